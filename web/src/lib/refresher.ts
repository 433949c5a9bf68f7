// Reading something from the server again when a change event says that it may be outdated.
// Nothing is polled, so a read that fails is repeated: no other event may follow.
import { ApiError } from './api/client';

/** Several changes in a moment: one read is enough. */
export const REFRESH_DEBOUNCE_MS = 200;

const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;
/** After the last one, the next event or connection reads again. */
const MAX_ATTEMPTS = 6;

export class Refresher {
  #read: () => Promise<unknown>;
  #debounce?: ReturnType<typeof setTimeout>;
  #retry?: ReturnType<typeof setTimeout>;
  #attempts = 0;

  constructor(read: () => Promise<unknown>) {
    this.#read = read;
  }

  /** Reads at once. Comes back after the first attempt and never fails. */
  now(): Promise<void> {
    clearTimeout(this.#debounce);
    this.#debounce = undefined;
    return this.#attempt(1);
  }

  /** Reads once for all calls within the debounce: a steady stream of them never postpones it. */
  soon(): void {
    this.#debounce ??= setTimeout(() => void this.now(), REFRESH_DEBOUNCE_MS);
  }

  /** Cancels what is scheduled. */
  stop(): void {
    clearTimeout(this.#debounce);
    clearTimeout(this.#retry);
    this.#debounce = undefined;
    this.#attempts += 1;
  }

  async #attempt(count: number): Promise<void> {
    clearTimeout(this.#retry);
    const attempt = ++this.#attempts;
    try {
      await this.#read();
    } catch (error) {
      // A later attempt has retries of its own.
      if (attempt !== this.#attempts || count === MAX_ATTEMPTS || !isTransient(error)) return;
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (count - 1), MAX_RETRY_MS);
      this.#retry = setTimeout(() => void this.#attempt(count + 1), wait);
    }
  }
}

/** What the server refuses it refuses again, unless it only has too much to do. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.unreachable) return true;
  return error.status >= 500 || error.status === 429;
}
