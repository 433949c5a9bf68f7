// Those who listen to one kind of event.
export class Listeners<Args extends unknown[] = []> {
  #all = new Set<(...args: Args) => void>();

  /** Returns a function that unsubscribes. */
  add(listener: (...args: Args) => void): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  emit(...args: Args): void {
    for (const listener of this.#all) listener(...args);
  }
}
