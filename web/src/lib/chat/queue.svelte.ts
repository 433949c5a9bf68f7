// Messages written while a turn runs, which are sent one by one as turns end. They are kept in the
// browser with the id of their turn: a reload, or two tabs, send each of them once.
import { ApiError } from '$lib/api/error';
import type { ChatId, AttachedFile, ModelId, ServerFrame, TurnId } from '$lib/api/types';
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';
import { loadSetting, onChangedInOtherTab, saveSetting } from '$lib/storage';
import { freshUuid } from '$lib/uuid';
import type { DraftContent, NamedTool } from './draft.svelte';
import type { Delivery } from './turnOutbox';

export interface QueuedMessage {
  turnId: TurnId;
  text: string;
  files: readonly AttachedFile[];
  tool?: NamedTool;
  modelId?: ModelId;
}

interface QueueHost {
  /** Whether a message of this chat is on its way or being answered, as far as the page knows. */
  isBusy(chatId: ChatId): boolean;
  deliver(chatId: ChatId, message: QueuedMessage): Promise<Delivery>;
  /** A message of a chat that is not open could not be sent. It waits there. */
  refused(chatId: ChatId, why: string): void;
}

export class MessageQueue {
  /** What waits in the open chat, first to be sent first. */
  messages = $state.raw<readonly QueuedMessage[]>([]);
  /** Why nothing of the open chat is sent by itself: the turn before failed, or the server refused
      it. */
  hold = $state<string>();

  #host: QueueHost;
  #chatId?: ChatId;
  /** Chats whose first message is on its way. */
  #delivering = new Set<ChatId>();
  /** Beside local storage, which may not be there. */
  #all = new Map<ChatId, readonly QueuedMessage[]>();
  #stopListening = () => {};

  constructor(host: QueueHost) {
    this.#host = host;
  }

  open(chatId: ChatId | undefined): void {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    this.hold = undefined;
    this.#stopListening();
    this.messages = chatId ? this.of(chatId) : [];
    this.#stopListening = chatId
      ? onChangedInOtherTab(key(chatId), () => this.#take(chatId, read(chatId) ?? []))
      : () => {};
  }

  /** It is known only now whose messages these are. */
  reread(): void {
    const chatId = this.#chatId;
    this.#all.clear();
    this.open(undefined);
    this.open(chatId);
  }

  /** As all tabs know it. */
  of(chatId: ChatId): readonly QueuedMessage[] {
    return read(chatId) ?? this.#all.get(chatId) ?? [];
  }

  add(chatId: ChatId, content: DraftContent, modelId: ModelId | undefined): void {
    const { text, files = [], tool } = content;
    this.#set(chatId, [...this.of(chatId), { turnId: freshUuid(), text, files, tool, modelId }]);
  }

  /** What says something else is another turn. */
  change(chatId: ChatId, turnId: TurnId, { text, files = [] }: DraftContent): void {
    this.#set(
      chatId,
      this.of(chatId).map((message) =>
        message.turnId === turnId ? { ...message, turnId: freshUuid(), text, files } : message,
      ),
    );
  }

  remove(chatId: ChatId, turnId: TurnId): void {
    const isIt = (message: QueuedMessage) => message.turnId === turnId;
    const known = this.of(chatId);
    // Another tab may have removed it before this one did.
    const isShown = chatId === this.#chatId && this.messages.some(isIt);
    if (known.some(isIt) || isShown) {
      this.#set(
        chatId,
        known.filter((message) => !isIt(message)),
      );
    }
  }

  /** A turn that has ended, or is found to have, lets the next message go. */
  take(frame: ServerFrame): void {
    if (frame.type === 'event' && frame.body.type === 'turnStarted') {
      this.remove(frame.chatId, frame.body.turnId);
    }
    if (frame.type === 'event' && frame.body.type === 'turnFinished') {
      const isFailed = frame.body.outcome.kind === 'failed';
      // What comes after an answer that failed would most likely fail as well.
      if (isFailed) this.#holdBack(frame.chatId, language.messages.queueHeld);
      // One that failed long ago, as a history that is read again tells, holds nothing back.
      else if (frame.chatId === this.#chatId) this.hold = undefined;
    }
    if (frame.type === 'caughtUp') void this.#flush(frame.chatId);
    if (frame.type === 'chat:changed' && !frame.chat.running) void this.#flush(frame.chat.id);
  }

  /** Sends what waits in the open chat, although it was held back. */
  sendNow(): void {
    this.hold = undefined;
    if (this.#chatId) void this.#flush(this.#chatId);
  }

  forget(chatId: ChatId): void {
    this.#set(chatId, []);
  }

  async #flush(chatId: ChatId): Promise<void> {
    const message = this.of(chatId)[0];
    if (!message || this.#delivering.has(chatId) || this.#host.isBusy(chatId)) return;
    if (chatId === this.#chatId && this.hold !== undefined) return;
    this.#delivering.add(chatId);
    const delivery = await this.#host.deliver(chatId, message);
    this.#delivering.delete(chatId);
    if (delivery.sent) return this.remove(chatId, message.turnId);
    // The end of the turn that still runs is told.
    if (delivery.error instanceof ApiError && delivery.error.code === 'busy') return;
    const why = language.messages.notSent(errorText(delivery.error));
    this.#holdBack(chatId, why);
    if (chatId !== this.#chatId) this.#host.refused(chatId, why);
  }

  #holdBack(chatId: ChatId, why: string): void {
    if (chatId === this.#chatId && this.messages.length > 0) this.hold = why;
  }

  #set(chatId: ChatId, messages: readonly QueuedMessage[]): void {
    saveSetting(key(chatId), messages.length > 0 ? JSON.stringify(messages) : '');
    this.#take(chatId, messages);
  }

  #take(chatId: ChatId, messages: readonly QueuedMessage[]): void {
    this.#all.set(chatId, messages);
    if (chatId !== this.#chatId) return;
    this.messages = messages;
    if (messages.length === 0) this.hold = undefined;
  }
}

function key(chatId: ChatId): string {
  return `queue.${chatId}`;
}

function read(chatId: ChatId): readonly QueuedMessage[] | undefined {
  try {
    const text = loadSetting(key(chatId));
    return text ? (JSON.parse(text) as QueuedMessage[]) : undefined;
  } catch {
    return undefined;
  }
}
