// The message being written, remembered per chat until it has been sent. Once it was sent it has the
// id of its turn: sent again, after a lost response or a reload, it is still one message.
import type { ChatId, TurnId } from '$lib/api/types';
import { loadSetting, saveSetting } from '$lib/storage';

export class Draft {
  #text: string;
  #chatId?: ChatId;
  /** Under which the text was sent without it being known whether it arrived. */
  #turnId?: TurnId;
  /** Where the remembered text is on its way: it must not be seen in the field again. */
  #taken = new Set<ChatId | undefined>();

  constructor(chatId: ChatId | undefined) {
    this.#chatId = chatId;
    this.#text = $state(loadSetting(key(chatId)) ?? '');
    this.#turnId = loadSetting(turnKey(chatId));
  }

  /** It is known only now whose drafts these are. */
  reread(): void {
    this.#text = loadSetting(key(this.#chatId)) ?? '';
    this.#turnId = loadSetting(turnKey(this.#chatId));
  }

  get turnId(): TurnId | undefined {
    return this.#turnId;
  }

  get text(): string {
    return this.#text;
  }

  /** What was changed is another message. */
  set text(text: string) {
    this.#text = text;
    this.#taken.delete(this.#chatId);
    saveSetting(key(this.#chatId), text);
    this.#setTurn(this.#chatId, undefined);
  }

  open(chatId: ChatId | undefined): void {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    this.#text = this.#taken.has(chatId) ? '' : (loadSetting(key(chatId)) ?? '');
    this.#turnId = loadSetting(turnKey(chatId));
  }

  /** Takes the text out of the field. It stays remembered until it is known to have arrived. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    this.#taken.add(this.#chatId);
    return text;
  }

  /** What was taken is about to be sent as this turn. */
  sending(chatId: ChatId, turnId: TurnId): void {
    if (this.#taken.has(chatId)) this.#setTurn(chatId, turnId);
  }

  /** The turn is on the server: its text, in the field or on its way, is no draft any more. Anything
      written since stays. */
  arrived(chatId: ChatId, turnId: TurnId): void {
    if (this.#turnOf(chatId) !== turnId) return;
    if (chatId === this.#chatId) this.#text = '';
    this.forget(chatId);
  }

  /** Puts back what could not be sent, before anything written since. `turnId` is given where it may
      have arrived nevertheless. */
  putBack(text: string, chatId: ChatId | undefined, turnId?: TurnId): void {
    const taken = this.#taken.delete(chatId);
    const since = chatId === this.#chatId ? this.#text : taken ? '' : loadSetting(key(chatId));
    const whole = since ? `${text}\n${since}` : text;
    if (chatId === this.#chatId) this.#text = whole;
    saveSetting(key(chatId), whole);
    this.#setTurn(chatId, since ? undefined : turnId);
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
    this.#setTurn(chatId, undefined);
  }

  #turnOf(chatId: ChatId): TurnId | undefined {
    return chatId === this.#chatId ? this.#turnId : loadSetting(turnKey(chatId));
  }

  #setTurn(chatId: ChatId | undefined, turnId: TurnId | undefined): void {
    if (chatId === this.#chatId) this.#turnId = turnId;
    saveSetting(turnKey(chatId), turnId ?? '');
  }
}

function key(chatId: ChatId | undefined): string {
  return `draft.${chatId ?? 'new'}`;
}

function turnKey(chatId: ChatId | undefined): string {
  return `draftTurn.${chatId ?? 'new'}`;
}
