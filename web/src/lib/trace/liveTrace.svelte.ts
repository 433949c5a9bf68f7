// The trace of a turn, read again while the turn goes on.
import { traces } from '$lib/api/trace';
import type { TurnId, TurnTrace } from '$lib/api/types';
import type { Turn } from '$lib/chat/chat';
import { errorText } from '$lib/i18n/errorText';

/** Many things may happen at once; they are read together. */
const READ_INTERVAL_MS = 500;

export class LiveTrace {
  trace = $state.raw<TurnTrace>();
  #failure = $state.raw<unknown>();
  problem = $derived(this.#failure === undefined ? '' : errorText(this.#failure));

  #turnId: TurnId;
  #readAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(turnId: TurnId) {
    this.#turnId = turnId;
  }

  /** Reads it soon; called again meanwhile, once is enough. */
  refresh(): void {
    if (this.#timer !== undefined || this.#closed) return;
    const wait = Math.max(0, this.#readAt + READ_INTERVAL_MS - Date.now());
    this.#timer = setTimeout(() => void this.#read(), wait);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    this.#readAt = Date.now();
    try {
      const trace = await traces.ofTurn(this.#turnId);
      if (this.#closed) return;
      this.trace = trace;
      this.#failure = undefined;
    } catch (error) {
      if (!this.#closed) this.#failure = error;
    } finally {
      this.#timer = undefined;
    }
  }
}

/** Changes with whatever a trace tells of a turn, and not with every word of an answer. */
export function turnProgress(turn: Turn | undefined): string {
  if (!turn) return '';
  const messages = turn.messages.map(({ id, finishedAt, wait }) => [id, finishedAt, wait?.ms]);
  const calls = Object.values(turn.calls).map(({ id, status, asked, verdict, forms }) => [
    id,
    status,
    asked,
    verdict,
    forms?.map(({ outcome }) => outcome ?? ''),
  ]);
  return JSON.stringify([messages, calls, turn.outcome?.kind]);
}
