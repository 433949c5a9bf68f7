// A list loaded from the server: its items, whether it is loaded, or the error.
import { untrack } from 'svelte';
import { accountErrorText } from './accountErrorText';
import { accountChanges } from './events';

export class RemoteList<Item> {
  items = $state.raw<readonly Item[]>([]);
  loaded = $state(false);
  #failure = $state.raw<unknown>();
  /** Why it could not be had, when it was last asked for. */
  problem = $derived(this.#failure === undefined ? '' : accountErrorText(this.#failure));

  #ask: () => Promise<Item[]>;
  /** Responses may arrive out of order; only the latest request counts. */
  #asked = 0;

  constructor(ask: () => Promise<Item[]>) {
    this.#ask = ask;
  }

  /** Loads it, and again at every change, until the function it returns is called. */
  start(changes: { add(listener: () => void): () => void } = accountChanges): () => void {
    // Whoever starts it in an effect does not start it anew at every change.
    untrack(() => void this.refresh());
    return changes.add(() => void this.refresh());
  }

  /** Shows one as it is now, at its place or at the end. */
  put(item: Item & { id: string }): void {
    // An answer that is under way may not know of it.
    this.#asked += 1;
    const isIt = (other: Item) => (other as { id?: string }).id === item.id;
    this.items = this.items.some(isIt)
      ? this.items.map((other) => (isIt(other) ? item : other))
      : [...this.items, item];
    this.loaded = true;
  }

  /** Never fails: `problem` holds the error. */
  async refresh(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const items = await this.#ask();
      if (asked !== this.#asked) return;
      this.items = items;
      this.loaded = true;
      this.#failure = undefined;
    } catch (error) {
      if (asked === this.#asked) this.#failure = error;
    }
  }
}
