// The message being written, remembered per chat until it has been sent.
import type { ChatId } from '$lib/api/types';
import { recall, remember } from '$lib/storage';

export class Draft {
  #text: string;
  #chatId?: ChatId;

  constructor(chatId: ChatId | undefined) {
    this.#chatId = chatId;
    this.#text = $state(recall(key(chatId)) ?? '');
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    remember(key(this.#chatId), text);
  }

  open(chatId: ChatId | undefined): void {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    this.#text = recall(key(chatId)) ?? '';
  }

  /** Takes the text out of the field. It stays remembered until it is known to have arrived. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** The reader may be in another chat by now. */
  arrived(chatId: ChatId): void {
    remember(key(chatId), chatId === this.#chatId ? this.#text : '');
  }

  /** Puts back what could not be sent, before anything written since. */
  putBack(text: string, chatId: ChatId | undefined): void {
    if (chatId === this.#chatId) this.text = this.#text ? `${text}\n${this.#text}` : text;
  }

  /** The chat that was new now has a name. */
  moveTo(chatId: ChatId): void {
    remember(key(chatId), recall(key(this.#chatId)) ?? '');
    remember(key(this.#chatId), '');
    this.#chatId = chatId;
  }
}

function key(chatId: ChatId | undefined): string {
  return `draft.${chatId ?? 'new'}`;
}
