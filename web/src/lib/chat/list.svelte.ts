// All chats of this person, as the side bar lists them.
import { api } from '$lib/api/client';
import type { ChatId, ChatSummary } from '$lib/api/types';

/** How long a deletion can be taken back. */
export const UNDO_MS = 10_000;

export class ChatList {
  loaded = $state(false);
  #all = $state.raw<readonly ChatSummary[]>([]);
  /** Deleted for the reader, but not yet on the server. */
  #doomed = $state.raw<ReadonlyMap<ChatId, ReturnType<typeof setTimeout>>>(new Map());

  /** How often this page has changed something on the server. */
  #changes = 0;

  chats = $derived(this.#all.filter((chat) => !this.#doomed.has(chat.id)));

  constructor() {
    addEventListener('pagehide', () => {
      for (const [id, timer] of this.#doomed) {
        clearTimeout(timer);
        api.deleteChatWhileLeaving(id);
      }
    });
  }

  async refresh(): Promise<void> {
    const changes = this.#changes;
    const chats = await api.chats();
    // A list that was asked for before a change may not know of it.
    if (changes !== this.#changes) return this.refresh();
    this.#all = chats;
    this.loaded = true;
  }

  async create(): Promise<ChatSummary> {
    const chat = await api.createChat();
    this.#changes += 1;
    // A refresh may have brought it already.
    this.#all = [chat, ...this.#all.filter(({ id }) => id !== chat.id)];
    return chat;
  }

  /** What the open chat says about itself, sooner than the next refresh. */
  update(id: ChatId, change: Partial<ChatSummary>): void {
    const index = this.#all.findIndex((chat) => chat.id === id);
    const old = this.#all[index];
    if (!old) return;
    const changed = { ...old, ...change };
    if (same(old, changed)) return;
    this.#all = this.#all.with(index, changed);
  }

  async rename(id: ChatId, title: string): Promise<void> {
    const before = this.#all.find((chat) => chat.id === id)?.title;
    this.update(id, { title });
    try {
      await api.changeChat(id, { title });
      this.#changes += 1;
    } catch (error) {
      this.update(id, { title: before });
      throw error;
    }
  }

  /** Hides the chat at once and deletes it when nobody wants it back any more. */
  remove(id: ChatId, failed: (error: unknown) => void): void {
    const timer = setTimeout(() => {
      api.deleteChat(id).then(
        () => {
          this.#changes += 1;
          this.#all = this.#all.filter((chat) => chat.id !== id);
          this.restore(id);
        },
        (error) => {
          this.restore(id);
          failed(error);
        },
      );
    }, UNDO_MS);
    this.#doomed = new Map(this.#doomed).set(id, timer);
  }

  restore(id: ChatId): void {
    const doomed = new Map(this.#doomed);
    clearTimeout(doomed.get(id));
    doomed.delete(id);
    this.#doomed = doomed;
  }
}

function same(a: ChatSummary, b: ChatSummary): boolean {
  return a.title === b.title && a.running === b.running && a.updatedAt === b.updatedAt;
}
