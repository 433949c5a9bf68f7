// The message being written, with its files and the tool it names, remembered per chat until it has
// been sent. Once it was sent it has the id of its turn: sent again, after a lost response or a
// reload, it is still one message.
import type { ChatId, AttachedFile, ToolId, TurnId } from '$lib/api/types';
import { loadSetting, saveSetting } from '$lib/storage';
import { AttachmentList } from './attachments.svelte';

/** The one tool that a message may use. */
export interface NamedTool {
  toolId: ToolId;
  displayName: string;
}

/** What a message is made of. */
export interface DraftContent {
  text: string;
  files?: readonly AttachedFile[];
  tool?: NamedTool;
}

export class Draft {
  #text = $state('');
  #tool = $state.raw<NamedTool>();
  #attachments = $state.raw(new AttachmentList());
  #chatId?: ChatId;
  /** Under which the text was sent without it being known whether it arrived. */
  #turnId?: TurnId;
  /** Where what is remembered is on its way: it must not be seen in the field again. */
  #taken = new Set<ChatId | undefined>();
  /** One per chat of this visit: an upload goes on while its reader is elsewhere. */
  #lists = new Map<string, AttachmentList>();

  constructor(chatId: ChatId | undefined) {
    this.#chatId = chatId;
    this.#load();
  }

  /** It is known only now whose drafts these are. */
  reread(): void {
    this.#lists.clear();
    this.#load();
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
    this.#changed(this.#chatId);
  }

  get tool(): NamedTool | undefined {
    return this.#tool;
  }

  set tool(tool: NamedTool | undefined) {
    this.#tool = tool;
    this.#changed(this.#chatId);
  }

  get attachments(): AttachmentList {
    return this.#attachments;
  }

  get isEmpty(): boolean {
    return this.#text.trim() === '' && this.#attachments.items.length === 0;
  }

  open(chatId: ChatId | undefined): void {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    this.#load();
  }

  /** What is in the field. */
  peek(): DraftContent {
    return { text: this.#text.trim(), files: this.#attachments.files, tool: this.#tool };
  }

  /** Takes everything out of the field. It stays remembered until it is known to have arrived. */
  take(): DraftContent {
    const content = { text: this.#text, files: this.#attachments.take(), tool: this.#tool };
    this.#text = '';
    this.#tool = undefined;
    this.#taken.add(this.#chatId);
    return content;
  }

  /** What was taken is about to be sent as this turn. */
  sending(chatId: ChatId, turnId: TurnId): void {
    if (this.#taken.has(chatId)) this.#setTurn(chatId, turnId);
  }

  /** The turn is on the server: its text, in the field or on its way, is no draft any more.
      Anything written since stays. */
  arrived(chatId: ChatId, turnId: TurnId): void {
    if (this.#turnOf(chatId) !== turnId) return;
    this.#listOf(chatId).take();
    if (chatId === this.#chatId) {
      this.#text = '';
      this.#tool = undefined;
    }
    this.forget(chatId);
  }

  /** Puts back what could not be sent, before anything written since. `turnId` is given where it
      may have arrived nevertheless. */
  putBack(content: DraftContent, chatId: ChatId | undefined, turnId?: TurnId): void {
    const { text, files = [], tool } = content;
    const here = chatId === this.#chatId;
    const taken = this.#taken.delete(chatId);
    const since = here ? this.#text : taken ? '' : loadSetting(key(chatId));
    const list = this.#listOf(chatId, taken ? [] : undefined);
    const isChanged = Boolean(since) || list.items.length > 0;
    const whole = since ? `${text}\n${since}` : text;
    list.putBack(files);
    if (here) {
      this.#text = whole;
      this.#tool ??= tool;
    }
    saveSetting(key(chatId), whole);
    if (tool) saveSetting(toolKey(chatId), JSON.stringify(tool));
    this.#saveFiles(chatId);
    this.#setTurn(chatId, isChanged ? undefined : turnId);
  }

  /** The chat that was new now has a name, whether or not the reader is still in it. */
  moveTo(from: ChatId | undefined, to: ChatId): void {
    for (const name of [key, filesKey, toolKey]) {
      saveSetting(name(to), loadSetting(name(from)) ?? '');
      saveSetting(name(from), '');
    }
    const list = this.#lists.get(key(from));
    this.#lists.delete(key(from));
    if (list) this.#lists.set(key(to), list);
    if (this.#taken.delete(from)) this.#taken.add(to);
    if (this.#chatId === from) this.#chatId = to;
  }

  /** The chat is not there after all: what was written in it is written in a new one. */
  moveBack(from: ChatId): void {
    const here = from === this.#chatId;
    const text = (here ? this.#text : loadSetting(key(from))) ?? '';
    const tool = here ? this.#tool : parse<NamedTool>(loadSetting(toolKey(from)));
    const files = this.#listOf(from).take();
    this.forget(from);
    if (here) this.open(undefined);
    if (text || files.length > 0) this.putBack({ text, files, tool }, undefined);
  }

  forget(chatId: ChatId): void {
    this.#taken.delete(chatId);
    for (const name of [key, filesKey, toolKey]) saveSetting(name(chatId), '');
    if (chatId !== this.#chatId) this.#lists.delete(key(chatId));
    this.#setTurn(chatId, undefined);
  }

  #load(): void {
    const chatId = this.#chatId;
    const taken = this.#taken.has(chatId);
    this.#attachments = this.#listOf(chatId, taken ? [] : undefined);
    this.#text = taken ? '' : (loadSetting(key(chatId)) ?? '');
    this.#tool = taken ? undefined : parse<NamedTool>(loadSetting(toolKey(chatId)));
    this.#turnId = loadSetting(turnKey(chatId));
  }

  /** What is in the field is the draft now, also where something else of this chat is on its
      way. */
  #changed(chatId: ChatId | undefined): void {
    this.#taken.delete(chatId);
    if (chatId === this.#chatId) {
      saveSetting(key(chatId), this.#text);
      saveSetting(toolKey(chatId), this.#tool ? JSON.stringify(this.#tool) : '');
    }
    this.#saveFiles(chatId);
    this.#setTurn(chatId, undefined);
  }

  #saveFiles(chatId: ChatId | undefined): void {
    const { files } = this.#listOf(chatId);
    saveSetting(filesKey(chatId), files.length > 0 ? JSON.stringify(files) : '');
  }

  /** The files of a chat's draft: those of this visit, else those that are remembered. */
  #listOf(
    chatId: ChatId | undefined,
    files = parse<AttachedFile[]>(loadSetting(filesKey(chatId))) ?? [],
  ): AttachmentList {
    const known = this.#lists.get(key(chatId));
    if (known) return known;
    // The chat may get a name while a file is on its way.
    const changed = () => this.#changed(this.#chatOf(list));
    const list: AttachmentList = new AttachmentList(files, changed);
    this.#lists.set(key(chatId), list);
    return list;
  }

  #chatOf(list: AttachmentList): ChatId | undefined {
    const name = [...this.#lists].find(([, other]) => other === list)?.[0].slice('draft.'.length);
    return name === 'new' ? undefined : name;
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

function filesKey(chatId: ChatId | undefined): string {
  return `draftFiles.${chatId ?? 'new'}`;
}

function toolKey(chatId: ChatId | undefined): string {
  return `draftTool.${chatId ?? 'new'}`;
}

function parse<Value>(text: string | undefined): Value | undefined {
  try {
    return text ? (JSON.parse(text) as Value) : undefined;
  } catch {
    return undefined;
  }
}
