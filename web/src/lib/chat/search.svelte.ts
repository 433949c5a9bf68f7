// Looks for words in all chats while they are being typed. The server is asked
// when the typing pauses, and only its answer to the latest question counts.
import { api } from '$lib/api/client';
import type { SearchHit } from '$lib/api/types';

/** Long enough that a typist is not followed letter by letter. */
export const SEARCH_DEBOUNCE_MS = 200;
const MAX_HITS = 40;

export class ChatSearch {
  /** What was found; absent while there is nothing to look for or no answer yet. */
  hits = $state.raw<readonly SearchHit[]>();
  searching = $state(false);
  /** Why nothing could be found out. */
  failure = $state.raw<unknown>();
  #text = '';
  #timer?: ReturnType<typeof setTimeout>;

  for(words: string): void {
    const text = words.trim();
    if (text === this.#text) return;
    this.#text = text;
    clearTimeout(this.#timer);
    this.failure = undefined;
    this.searching = text !== '';
    // What was found for other words is no answer to these.
    this.hits = undefined;
    if (text) this.#timer = setTimeout(() => void this.#ask(text), SEARCH_DEBOUNCE_MS);
  }

  async #ask(text: string): Promise<void> {
    let hits: SearchHit[] | undefined;
    let failure: unknown;
    try {
      hits = await api.search(text, MAX_HITS);
    } catch (error) {
      failure = error;
    }
    if (text !== this.#text) return;
    [this.hits, this.failure, this.searching] = [hits, failure, false];
  }
}
