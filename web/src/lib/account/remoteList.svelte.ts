// A list loaded from the server: its items, whether it is loaded, or the error.
import { untrack } from 'svelte';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { accountErrorText } from './accountErrorText';
import { accountChanges } from './events';

export class RemoteList<Item> {
  items = $state.raw<readonly Item[]>([]);
  loaded = $state(false);
  #failure = $state.raw<unknown>();
  /** Why it could not be had, when it was last asked for. */
  problem = $derived(this.#failure === undefined ? '' : accountErrorText(this.#failure));

  #ask: () => Promise<Item[]>;
  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#read());

  constructor(ask: () => Promise<Item[]>) {
    this.#ask = ask;
  }

  /** Loads it, and again at every change, until the function it returns is called. */
  start(changes: { add(listener: () => void): () => void } = accountChanges): () => void {
    // Whoever starts it in an effect does not start it anew at every change.
    untrack(() => void this.refresh());
    const unsubscribe = changes.add(() => this.#refresher.soon());
    return () => {
      unsubscribe();
      this.#refresher.stop();
    };
  }

  /** Shows one as it is now, at its place or at the end. */
  put(item: Item & { id: string }): void {
    // A response that is under way may not know of it, but of something else.
    if (this.#order.discard()) this.#refresher.soon();
    const isIt = (other: Item) => (other as { id?: string }).id === item.id;
    this.items = this.items.some(isIt)
      ? this.items.map((other) => (isIt(other) ? item : other))
      : [...this.items, item];
    this.loaded = true;
  }

  /** Never fails: `problem` holds the error, and what cannot be read is read again later. */
  refresh(): Promise<void> {
    return this.#refresher.now();
  }

  async #read(): Promise<void> {
    const isNewest = this.#order.send();
    try {
      const items = await this.#ask();
      if (!isNewest()) return;
      this.items = items;
      this.loaded = true;
      this.#failure = undefined;
    } catch (error) {
      if (isNewest()) this.#failure = error;
      throw error;
    }
  }
}
