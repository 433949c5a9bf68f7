// A screen without a monitor, for what a browser shows beside its page, and a keyboard.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pass } from 'node:timers/promises';

/** What has to be installed and is not. */
export const missing = ['Xvfb', 'xdotool'].filter((program) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`]);
    return false;
  } catch {
    return true;
  }
});

/** Chromium takes no answer to a question that nobody can have read yet. */
const READ_MS = 1_000;
/** So that one key is dealt with before the next. */
const KEY_MS = 150;

export class Screen {
  display;
  #server;

  static async start() {
    const screen = new Screen();
    const args = ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'];
    screen.#server = spawn('Xvfb', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const [number] = await once(screen.#server.stdio[3], 'data');
    screen.display = `:${String(number).trim()}`;
    return screen;
  }

  /** Answers what Chromium asks: F6 goes from the page to the question. */
  async answer(how) {
    await pass(READ_MS);
    const steps = { block: 0, allow: 1, close: 2 }[how];
    await this.#press('F6', ...Array(steps).fill('Tab'), 'space');
  }

  async #press(...keys) {
    const env = { ...process.env, DISPLAY: this.display };
    for (const key of keys) {
      execFileSync('xdotool', ['key', key], { env });
      await pass(KEY_MS);
    }
  }

  async stop() {
    this.#server.kill();
    await once(this.#server, 'exit');
  }
}
