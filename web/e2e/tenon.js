// The real server for a test: on a free port, with a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const binary =
  process.env.TENON_BIN ?? fileURLToPath(new URL('../../target/debug/tenon', import.meta.url));
const START_MS = 20_000;

/** For tests in which people log in. */
export const withAccounts = { TENON_SINGLE_USER: '' };

export class Tenon {
  /** Where it answers, without a slash at the end. */
  url = '';
  /** What the one person of single-user mode shows; empty where people log in. */
  cookie = '';
  #data;
  #process;
  #environment;

  /** Models of the machine the test runs on are none of its business, unless it says so. */
  static async start(environment = {}) {
    const tenon = new Tenon();
    tenon.#environment = {
      ...process.env,
      OPENAI_API_KEY: '',
      OPENAI_BASE_URL: '',
      OPENAI_API_BASE: '',
      ANTHROPIC_API_KEY: '',
      ANTHROPIC_AUTH_TOKEN: '',
      ANTHROPIC_BASE_URL: '',
      OLLAMA_HOST: '',
      TENON_LOCAL_MODELS: '',
      TENON_SINGLE_USER: '1',
      ...environment,
    };
    tenon.#data = await mkdtemp(join(tmpdir(), 'tenon-e2e-'));
    await tenon.#run('127.0.0.1:0');
    if (tenon.#environment.TENON_SINGLE_USER) await tenon.#enter();
    return tenon;
  }

  /** The link that lets in whoever started it, as its file has it. */
  async link() {
    return (await readFile(join(this.#data, 'setup-link'), 'utf8')).trim();
  }

  /** The code in that link. */
  async code() {
    return (await this.link()).split('/#setup=')[1];
  }

  /** Asks it something as the one person would; elsewhere as nobody. */
  fetch(path, { headers = {}, ...options } = {}) {
    const shown = this.cookie ? { cookie: this.cookie } : {};
    return fetch(this.url + path, { ...options, headers: { ...shown, ...headers } });
  }

  get pid() {
    return this.#process.pid;
  }

  /** Dies without a word, as in a power cut. */
  async kill() {
    const process = this.#process;
    if (process.exitCode !== null || process.signalCode !== null) return;
    const gone = new Promise((resolve) => process.once('exit', resolve));
    process.kill('SIGKILL');
    await gone;
  }

  /** Comes back at the same address, with the same data. */
  async restart() {
    await this.kill();
    await this.#run(new URL(this.url).host);
  }

  /** Ends every turn that runs, as another page might. */
  async cancelTurns() {
    const chats = await (await this.fetch('/api/chats')).json();
    for (const { running } of chats) {
      if (running) await this.fetch(`/api/turns/${running}/cancel`, { method: 'POST' });
    }
  }

  async stop() {
    await this.kill();
    await rm(this.#data, { recursive: true, force: true });
  }

  async #enter() {
    const response = await fetch(`${this.url}/api/auth/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: await this.code() }),
    });
    if (!response.ok) throw new Error(`the code does not let in: ${await response.text()}`);
    this.cookie = response.headers.getSetCookie()[0].split(';')[0];
  }

  #run(listen) {
    const process = spawn(binary, ['serve', '--listen', listen, '--data', this.#data], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: this.#environment,
    });
    this.#process = process;
    return new Promise((resolve, reject) => {
      let said = '';
      const fail = (why) => reject(new Error(`${binary} ${why}:\n${said}`));
      const timer = setTimeout(() => fail('did not say where it listens'), START_MS);
      process.once('error', (error) => fail(String(error)));
      process.once('exit', (code) => fail(`ended with ${code}`));
      const hear = (data) => {
        said += data;
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
        if (!url) return;
        clearTimeout(timer);
        this.url = url;
        resolve();
      };
      process.stdout.on('data', hear);
      process.stderr.on('data', (data) => (said += data));
    });
  }
}
