// The chats that were open last, so that going back to one shows it at once. What has happened
// since is asked of the server.
import type { ChatId } from '$lib/api/types';
import type { Chat } from './chat';

/** Enough to go back and forth; each may have megabytes. */
const MAX_CHATS = 4;

export class RecentChats {
  #chats = new Map<ChatId, Chat>();

  /** One that is not known completely is not kept. */
  put(chat: Chat): void {
    this.#chats.delete(chat.id);
    if (!chat.caughtUp || chat.missed) return;
    this.#chats.set(chat.id, chat);
    const oldest = this.#chats.keys().next();
    if (this.#chats.size > MAX_CHATS && !oldest.done) this.#chats.delete(oldest.value);
  }

  get(id: ChatId): Chat | undefined {
    return this.#chats.get(id);
  }

  forget(id: ChatId): void {
    this.#chats.delete(id);
  }
}
