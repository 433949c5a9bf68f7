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
  /** New titles the server has not confirmed. No refresh knows them, so they lie over the list. */
  #renamed = $state.raw<ReadonlyMap<ChatId, string>>(new Map());

  /** How often this page has changed something on the server. */
  #changes = 0;

  chats = $derived(
    this.#all
      .filter((chat) => !this.#doomed.has(chat.id))
      .map((chat) => {
        const title = this.#renamed.get(chat.id);
        return title === undefined ? chat : { ...chat, title };
      }),
  );

  #deleted: (id: ChatId) => void;

  /** `deleted` hears of every chat that is gone for good. */
  constructor(deleted: (id: ChatId) => void = () => {}) {
    this.#deleted = deleted;
    addEventListener('pagehide', () => {
      for (const [id, timer] of this.#doomed) {
        clearTimeout(timer);
        api.deleteChatWhileLeaving(id);
        this.#deleted(id);
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
    this.#renamed = new Map(this.#renamed).set(id, title);
    try {
      await api.changeChat(id, { title });
      this.#changes += 1;
      this.update(id, { title });
    } finally {
      // Unless it was renamed once more meanwhile.
      if (this.#renamed.get(id) === title) this.#renamed = without(this.#renamed, id);
    }
  }

  /** Hides the chat at once and deletes it when nobody wants it back any more. */
  remove(id: ChatId, failed: (error: unknown) => void): void {
    this.restore(id);
    const timer = setTimeout(() => {
      api.deleteChat(id).then(
        () => {
          this.#changes += 1;
          this.#all = this.#all.filter((chat) => chat.id !== id);
          this.restore(id);
          this.#deleted(id);
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
    clearTimeout(this.#doomed.get(id));
    this.#doomed = without(this.#doomed, id);
  }
}

function without<Value>(map: ReadonlyMap<ChatId, Value>, id: ChatId): ReadonlyMap<ChatId, Value> {
  return new Map([...map].filter(([key]) => key !== id));
}

function same(a: ChatSummary, b: ChatSummary): boolean {
  return a.title === b.title && a.running === b.running && a.updatedAt === b.updatedAt;
}
