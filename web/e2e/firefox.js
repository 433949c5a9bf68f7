// Debian's Firefox for a test, driven over WebDriver BiDi: a socket of JSON messages, and of those
// the few that a person's doings need. Playwright drives only a Firefox of its own.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';

const executable = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

/** Where it cannot be had, its tests are skipped, and say so. */
export const withoutFirefox = existsSync(executable)
  ? false
  : `${executable} is missing (sudo apt-get install firefox-esr)`;

/** Nothing in these tests takes longer unless it is broken. */
const DEADLINE_MS = 20_000;
const START_MS = 40_000;

/** English, and nothing of its maker's is asked for meanwhile. */
const preferences = {
  'intl.accept_languages': 'en-GB',
  'intl.locale.requested': 'en-US',
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'toolkit.telemetry.server': '',
  'app.update.disabledForTesting': true,
  'extensions.getAddons.cache.enabled': false,
};

/** The key that a person presses, as WebDriver writes it. */
const keys = { Enter: '\uE007', Escape: '\uE00C' };

export class Firefox {
  #process;
  #profile;
  #socket;
  #context;
  #count = 0;
  #pending = new Map();
  /** Errors that the page did not handle. */
  complaints = [];

  static async start() {
    const firefox = new Firefox();
    try {
      await firefox.#start();
    } catch (error) {
      await firefox.stop();
      throw error;
    }
    return firefox;
  }

  async stop() {
    this.#socket?.close();
    const process = this.#process;
    if (process.exitCode === null && process.signalCode === null) {
      const gone = new Promise((resolve) => process.once('exit', resolve));
      process.kill('SIGKILL');
      await gone;
    }
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  go(url) {
    return this.#send('browsingContext.navigate', {
      context: this.#context,
      url,
      wait: 'complete',
    });
  }

  reload() {
    return this.#send('browsingContext.reload', { context: this.#context, wait: 'complete' });
  }

  /** What an expression is in the page. */
  async evaluate(expression) {
    const { type, result, exceptionDetails } = await this.#send('script.evaluate', {
      expression: `(async () => JSON.stringify((${expression}) ?? null))()`,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (type === 'exception') throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  /** Waits until an expression is true in the page. */
  async until(expression) {
    const end = Date.now() + DEADLINE_MS;
    while (!(await this.evaluate(`Boolean(${expression})`))) {
      if (Date.now() > end) {
        const text = await this.evaluate('document.body.innerText');
        throw new Error(`never happened: ${expression}\n${text}\n${this.complaints.join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Clicks what a selector finds; of several, the one that is called so. */
  async click(selector, name = '') {
    const find = `[...document.querySelectorAll(${JSON.stringify(selector)})].find((element) =>
      element.checkVisibility() && !element.disabled &&
      (element.ariaLabel ?? element.textContent).trim().startsWith(${JSON.stringify(name)}))`;
    await this.until(find);
    const [x, y] = await this.evaluate(`(() => {
      const element = ${find};
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      const { x, y, width, height } = element.getBoundingClientRect();
      return [Math.round(x + width / 2), Math.round(y + height / 2)];
    })()`);
    await this.#act({
      type: 'pointer',
      id: 'mouse',
      actions: [
        { type: 'pointerMove', x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ],
    });
  }

  /** Clicks a field and types. */
  async type(selector, text) {
    await this.click(selector);
    await this.#press([...text]);
  }

  press(key) {
    return this.#press([keys[key]]);
  }

  /** Chooses files in a field for them, as its dialog would. */
  async attach(selector, ...files) {
    const { result } = await this.#send('script.evaluate', {
      expression: `document.querySelector(${JSON.stringify(selector)})`,
      target: { context: this.#context },
      awaitPromise: false,
    });
    const element = { sharedId: result.sharedId };
    await this.#send('input.setFiles', { context: this.#context, element, files });
  }

  #press(values) {
    const actions = values.flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    return this.#act({ type: 'key', id: 'keyboard', actions });
  }

  #act(source) {
    return this.#send('input.performActions', { context: this.#context, actions: [source] });
  }

  async #start() {
    this.#profile = await mkdtemp(join(tmpdir(), 'tenon-firefox-'));
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    await writeFile(join(this.#profile, 'user.js'), lines.join('\n'));
    const options = ['--headless', '--no-remote', '--profile', this.#profile];
    this.#process = spawn(executable, [...options, '--remote-debugging-port', '0', 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        HOME: this.#profile,
        MOZ_HEADLESS_WIDTH: '1280',
        MOZ_HEADLESS_HEIGHT: '900',
      },
    });
    await this.#connect(await this.#address());
    await this.#send('session.new', { capabilities: {} });
    await this.#send('session.subscribe', { events: ['log.entryAdded'] });
    const { contexts } = await this.#send('browsingContext.getTree', {});
    this.#context = contexts[0].context;
  }

  /** It says on standard error where it listens. */
  #address() {
    return new Promise((resolve, reject) => {
      let said = '';
      const timer = setTimeout(() => reject(new Error(`Firefox is silent: ${said}`)), START_MS);
      this.#process.once('exit', (code) =>
        reject(new Error(`Firefox ended with ${code}: ${said}`)),
      );
      this.#process.stderr.on('data', (data) => {
        said += data;
        const url = /WebDriver BiDi listening on (ws:\S+)/.exec(said)?.[1];
        if (!url) return;
        clearTimeout(timer);
        resolve(`${url}/session`);
      });
    });
  }

  #connect(url) {
    return new Promise((resolve, reject) => {
      this.#socket = new WebSocket(url);
      this.#socket.onopen = resolve;
      this.#socket.onerror = ({ message }) => reject(new Error(message));
      this.#socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    });
  }

  #take({ id, type, method, params, result, error, message }) {
    // An address where nobody listens makes the browser complain, not the page.
    const network = /^Cross-Origin Request Blocked|can’t establish a connection/;
    const isError = params?.type === 'javascript' && params.level === 'error';
    if (method === 'log.entryAdded' && isError && !network.test(params.text)) {
      this.complaints.push(params.text);
    }
    const asked = this.#pending.get(id);
    if (!asked) return;
    this.#pending.delete(id);
    if (type === 'error') asked.reject(new Error(`${error}: ${message}`));
    else asked.resolve(result);
  }

  #send(method, params) {
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`${method} was not answered`));
      const timer = setTimeout(late, START_MS);
      const settle = (act) => (value) => {
        clearTimeout(timer);
        act(value);
      };
      this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
