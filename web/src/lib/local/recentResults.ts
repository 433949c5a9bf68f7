// Results of recent calls. They are sent again after a reconnect, since a broken connection may
// lose one.
import type { ClientFrame } from '$lib/api/types';

const RETENTION_MS = 60_000;
const MAX_RESULTS = 50;
/** In all, about. One that is larger is kept alone. */
const MAX_LENGTH = 32 * 1024 * 1024;

export class RecentResults {
  #kept: { at: number; length: number; frame: ClientFrame }[] = [];
  #purge?: ReturnType<typeof setTimeout>;

  keep(frame: ClientFrame): void {
    const { length } = JSON.stringify(frame);
    this.#kept = [...this.#fresh(), { at: Date.now(), length, frame }].slice(-MAX_RESULTS);
    let all = this.#kept.reduce((sum, one) => sum + one.length, 0);
    while (all > MAX_LENGTH && this.#kept.length > 1) all -= this.#kept.shift()!.length;
    this.#purge ??= setTimeout(() => this.#clean(), RETENTION_MS);
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
    this.#purge = oldest && setTimeout(() => this.#clean(), oldest.at + RETENTION_MS - Date.now());
  }

  #fresh() {
    return this.#kept.filter(({ at }) => Date.now() - at < RETENTION_MS);
  }
}
