// What the server tells of a person's chats, tools, models and settings, changed here or on another
// device.
import { accountChanges, settingChanges } from './account/events';
import { session } from './account/session.svelte';
import type { ChatId, ChatSummary, ServerFrame, UserTopic } from './api/types';
import type { App } from './app.svelte';
import { attention } from './attention/attention.svelte';
import { truncateTitle } from './format/truncate';
import { language } from './i18n/language.svelte';
import { Refresher } from './refresher';
import { router } from './router.svelte';
import { skillChanges } from './skills/events';
import { emitSourcesChange } from './sources/events';
import { toasts } from './ui/toasts.svelte';

export class UserFeed {
  #app: App;
  readonly #session = new Refresher(() => session.refresh());
  /** Chats known to wait for an answer; absent before the first look. */
  #asking?: Set<ChatId>;

  constructor(app: App) {
    this.#app = app;
  }

  /** The list was read. */
  takeList(chats: readonly ChatSummary[]): void {
    // Those that asked before the page was there have their mark in the list.
    this.#asking ??= new Set(chats.flatMap(({ id, asking }) => (asking ? [id] : [])));
    for (const chat of chats) this.#noteChat(chat);
  }

  take(frame: ServerFrame): void {
    switch (frame.type) {
      case 'resync':
        void this.#app.refresh();
        break;
      case 'chat:changed':
        this.#app.chatManager.put(frame.chat);
        if (this.#app.unlisted?.id === frame.chat.id) this.#app.unlisted = frame.chat;
        this.#noteChat(frame.chat);
        break;
      case 'chat:gone':
        this.#app.chatManager.drop(frame.chatId);
        break;
      case 'source:state':
        emitSourcesChange(frame);
        break;
      case 'changed':
        this.refreshTopic(frame.topic);
        break;
    }
  }

  /** Reads what belongs to it again. */
  refreshTopic(topic: UserTopic): void {
    switch (topic) {
      case 'tools':
        return this.#app.toolbox.refreshSoon();
      case 'sources':
        return emitSourcesChange();
      case 'models':
        this.#app.refreshInfoSoon();
        return this.#app.models.refreshSoon();
      case 'accounts':
        // Their role may be another one now, and so what they may change.
        this.#session.soon();
        accountChanges.emit();
        return emitSourcesChange();
      case 'settings':
        // Which of them are hidden is a preference.
        this.#app.experts.refreshSoon();
        this.#app.folders.refreshSoon();
        return settingChanges.emit();
      case 'experts':
        this.#app.toolbox.refreshSoon();
        return this.#app.experts.refreshSoon();
      case 'skills':
        return skillChanges.emit();
    }
  }

  /** Tells of a chat that begins to wait for an answer and is not on show. */
  #noteAsking({ id, title, asking }: ChatSummary): void {
    if (!asking) this.#asking?.delete(id);
    if (!asking || !this.#asking || this.#asking.has(id)) return;
    this.#asking.add(id);
    if (id === router.chatId || this.#app.isShown(id)) return;
    const { asks, untitled, open: label } = language.messages;
    const run = () => router.go({ name: 'chat', chatId: id });
    toasts.show(asks(truncateTitle(title || untitled)), { label, run });
  }

  #noteChat(chat: ChatSummary): void {
    this.#noteAsking(chat);
    attention.take(chat);
  }
}
