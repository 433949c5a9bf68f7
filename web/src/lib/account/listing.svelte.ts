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
