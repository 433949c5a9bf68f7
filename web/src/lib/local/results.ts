// What calls came to, for a while: a connection that breaks may take an answer with it.
import type { ClientFrame } from '$lib/api/types';

const KEPT_MS = 60_000;
const MAX_KEPT = 50;
/** In all, about. One that is larger is kept alone. */
const MAX_LENGTH = 32 * 1024 * 1024;

export class Results {
  #kept: { at: number; length: number; frame: ClientFrame }[] = [];
  #purge?: ReturnType<typeof setTimeout>;

  keep(frame: ClientFrame): void {
    const { length } = JSON.stringify(frame);
    this.#kept = [...this.#fresh(), { at: Date.now(), length, frame }].slice(-MAX_KEPT);
    let all = this.#kept.reduce((sum, one) => sum + one.length, 0);
    while (all > MAX_LENGTH && this.#kept.length > 1) all -= this.#kept.shift()!.length;
    this.#purge ??= setTimeout(() => this.#clean(), KEPT_MS);
  }

  recent(): ClientFrame[] {
    return this.#fresh().map(({ frame }) => frame);
  }

  clear(): void {
    clearTimeout(this.#purge);
    this.#purge = undefined;
    this.#kept = [];
  }

  #clean(): void {
    this.#kept = this.#fresh();
    const [oldest] = this.#kept;
    this.#purge = oldest && setTimeout(() => this.#clean(), oldest.at + KEPT_MS - Date.now());
  }

  #fresh() {
    return this.#kept.filter(({ at }) => Date.now() - at < KEPT_MS);
  }
}
