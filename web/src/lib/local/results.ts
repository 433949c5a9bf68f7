// What calls came to, for a while: a connection that breaks may take an answer with it.
import type { ClientFrame } from '$lib/api/types';

const KEPT_MS = 60_000;
const MAX_KEPT = 50;

export class Results {
  #kept: { at: number; frame: ClientFrame }[] = [];

  keep(frame: ClientFrame): void {
    this.#kept = [...this.#fresh(), { at: Date.now(), frame }].slice(-MAX_KEPT);
  }

  recent(): ClientFrame[] {
    this.#kept = this.#fresh();
    return this.#kept.map(({ frame }) => frame);
  }

  #fresh() {
    return this.#kept.filter(({ at }) => Date.now() - at < KEPT_MS);
  }
}
