// A list of the server's: had, being asked for, or why it could not be had.
import { sayRefusal } from './refusal';

export class Listing<Item> {
  items = $state.raw<readonly Item[]>([]);
  loaded = $state(false);
  #failure = $state.raw<unknown>();
  /** Why it could not be had, when it was last asked for. */
  problem = $derived(this.#failure === undefined ? '' : sayRefusal(this.#failure));

  #ask: () => Promise<Item[]>;
  /** Answers overtake each other; only the one to the latest question counts. */
  #asked = 0;

  constructor(ask: () => Promise<Item[]>) {
    this.#ask = ask;
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

  /** Fails never: `problem` says what went wrong. */
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
