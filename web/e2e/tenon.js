// The real server for a test: on a free port, with a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const binary =
  process.env.TENON_BIN ?? fileURLToPath(new URL('../../target/debug/tenon', import.meta.url));
const START_MS = 20_000;

/** For tests in which people log in. */
export const withAccounts = { TENON_SINGLE_USER: '' };

export class Tenon {
  /** Where it answers, without a slash at the end. */
  url = '';
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
    return tenon;
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
    const chats = await (await fetch(`${this.url}/api/chats`)).json();
    for (const { running } of chats) {
      if (running) await fetch(`${this.url}/api/turns/${running}/cancel`, { method: 'POST' });
    }
  }

  async stop() {
    await this.kill();
    await rm(this.#data, { recursive: true, force: true });
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
