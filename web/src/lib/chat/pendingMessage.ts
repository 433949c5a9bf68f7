// Whether a message was delivered. The response may get lost although the request arrived; the
// turn that it started proves it.
import type { ChatId, ServerFrame } from '$lib/api/types';
import { writtenText } from './reduce';

export class PendingMessage {
  /** Absent until the chat of a first message has been made. */
  chatId?: ChatId;
  delivered = false;
  /** The page gave up waiting and put the text back into the composer. */
  givenUp = false;

  readonly text: string;
  #afterSeq: number;

  /** Turns up to `afterSeq` are older than this message, even those with the same words. */
  constructor(text: string, afterSeq: number) {
    this.text = text;
    this.#afterSeq = afterSeq;
  }

  take(frame: ServerFrame): void {
    if (frame.type !== 'event' || frame.chatId !== this.chatId) return;
    if (frame.seq <= this.#afterSeq || frame.body.type !== 'turnStarted') return;
    if (writtenText(frame.body.message) === this.text) this.delivered = true;
  }
}
