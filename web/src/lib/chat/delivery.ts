// Whether a message has arrived. The server's answer to it may get lost although
// the message did not; the turn that it started is the proof.
import type { ChatId, ServerFrame } from '$lib/api/types';
import { writtenText } from './reduce';

export class Delivery {
  /** Absent until the chat of a first message has been made. */
  chatId?: ChatId;
  proven = false;
  /** The page took it for lost, and the reader has the text back. */
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
    if (writtenText(frame.body.message) === this.text) this.proven = true;
  }
}
