// The message being written, remembered per chat until it has been sent.
import type { ChatId } from '$lib/api/types';
import { loadSetting, saveSetting } from '$lib/storage';

export class Draft {
  #text: string;
  #chatId?: ChatId;
  /** Where the remembered text is on its way: it must not be seen in the field again. */
  #taken = new Set<ChatId | undefined>();

  constructor(chatId: ChatId | undefined) {
    this.#chatId = chatId;
    this.#text = $state(loadSetting(key(chatId)) ?? '');
  }

  /** It is known only now whose drafts these are. */
  reread(): void {
    this.#text = loadSetting(key(this.#chatId)) ?? '';
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#taken.delete(this.#chatId);
    saveSetting(key(this.#chatId), text);
  }

  open(chatId: ChatId | undefined): void {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    this.#text = this.#taken.has(chatId) ? '' : (loadSetting(key(chatId)) ?? '');
  }

  /** Takes the text out of the field. It stays remembered until it is known to have arrived. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    this.#taken.add(this.#chatId);
    return text;
  }

  /** What was taken is on the server. Anything written since stays. */
  arrived(chatId: ChatId): void {
    if (this.#taken.delete(chatId)) saveSetting(key(chatId), '');
  }

  /** Puts back what could not be sent, before anything written since. */
  putBack(text: string, chatId: ChatId | undefined): void {
    const taken = this.#taken.delete(chatId);
    const since = chatId === this.#chatId ? this.#text : taken ? '' : loadSetting(key(chatId));
    const whole = since ? `${text}\n${since}` : text;
    if (chatId === this.#chatId) this.text = whole;
    else saveSetting(key(chatId), whole);
  }

  /** What was put back has arrived after all. Once it was changed, it is a new message. */
  withdraw(text: string, chatId: ChatId): void {
    if (chatId === this.#chatId) {
      if (this.#text === text) this.text = '';
    } else if (loadSetting(key(chatId)) === text) this.forget(chatId);
  }

  /** The chat that was new now has a name, whether or not the reader is still in it. */
  moveTo(from: ChatId | undefined, to: ChatId): void {
    saveSetting(key(to), loadSetting(key(from)) ?? '');
    saveSetting(key(from), '');
    if (this.#taken.delete(from)) this.#taken.add(to);
    if (this.#chatId === from) this.#chatId = to;
  }

  /** The chat is not there after all: what was written in it is written in a new one. */
  moveBack(from: ChatId): void {
    const here = from === this.#chatId;
    const text = here ? this.#text : loadSetting(key(from));
    this.forget(from);
    if (here) this.open(undefined);
    if (text) this.putBack(text, undefined);
  }

  forget(chatId: ChatId): void {
    this.#taken.delete(chatId);
    saveSetting(key(chatId), '');
  }
}

function key(chatId: ChatId | undefined): string {
  return `draft.${chatId ?? 'new'}`;
}
