// The chats of this person as the side bar lists them, page by page: those in
// use, or those in the archive.
import { api } from '$lib/api/client';
import type { ChatChange, ChatId, ChatSummary } from '$lib/api/types';

/** How long a deletion can be taken back. */
export const UNDO_MS = 10_000;

/** More than a screen shows, so that the next page is there before its end is seen. */
export const CHAT_PAGE_SIZE = 60;

export class ChatList {
  loaded = $state(false);
  /** There are older ones on the server. */
  more = $state(false);
  #all = $state.raw<readonly ChatSummary[]>([]);
  /** Deleted by this page. A refresh under way may still know them. */
  #gone = $state.raw<ReadonlySet<ChatId>>(new Set());
  /** What the server has not confirmed. No refresh knows it, so it lies over the list. */
  #changed = $state.raw<ReadonlyMap<ChatId, ChatChange>>(new Map());

  /** How often this page has changed something on the server. */
  #changes = 0;
  #loadingMore = false;
  #archived: boolean;

  chats = $derived(
    this.#all
      .filter((chat) => !this.#gone.has(chat.id))
      .map((chat) => ({ ...chat, ...this.#changed.get(chat.id) }))
      .filter((chat) => chat.archived === this.#archived),
  );

  constructor(which: 'inUse' | 'archived' = 'inUse') {
    this.#archived = which === 'archived';
  }

  async refresh(): Promise<void> {
    const changes = this.#changes;
    const page = await this.#page();
    // A list that was asked for before a change may not know of it.
    if (changes !== this.#changes) return this.refresh();
    const full = page.length >= CHAT_PAGE_SIZE;
    const last = page.at(-1);
    const known = new Set(page.map(({ id }) => id));
    // Older pages stay; what would stand on this one and does not is gone.
    const older =
      full && last
        ? this.#all.filter((chat) => !known.has(chat.id) && !chat.pinned && isOlder(chat, last))
        : [];
    if (older.length === 0) this.more = full;
    this.#all = [...page, ...older];
    this.loaded = true;
  }

  /** The next page. */
  async loadMore(): Promise<void> {
    const last = this.#all.findLast((chat) => !chat.pinned);
    if (!this.more || this.#loadingMore || !last) return;
    this.#loadingMore = true;
    try {
      const page = await this.#page(`${last.updatedAt}.${last.id}`);
      const known = new Set(this.#all.map(({ id }) => id));
      this.#all = [...this.#all, ...page.filter(({ id }) => !known.has(id))];
      this.more = page.length >= CHAT_PAGE_SIZE;
    } finally {
      this.#loadingMore = false;
    }
  }

  async create(): Promise<ChatSummary> {
    const chat = await api.createChat();
    this.add(chat);
    return chat;
  }

  /** A chat that was just made. A refresh may have brought it already. */
  add(chat: ChatSummary): void {
    this.#changes += 1;
    this.#all = [chat, ...this.#all.filter(({ id }) => id !== chat.id)];
  }

  /** A chat that is gone on the server. */
  drop(id: ChatId): void {
    this.#all = this.#all.filter((chat) => chat.id !== id);
  }

  /** What the open chat says about itself, sooner than the next refresh. It never makes it older:
      the list would jump. */
  update(id: ChatId, change: Partial<ChatSummary>): void {
    const index = this.#all.findIndex((chat) => chat.id === id);
    const old = this.#all[index];
    if (!old) return;
    const updatedAt = Math.max(old.updatedAt, change.updatedAt ?? 0);
    const changed = { ...old, ...change, updatedAt };
    if (same(old, changed)) return;
    this.#all = this.#all.with(index, changed);
  }

  /** Renames, pins, puts into the archive or takes out of it: shown at once, and back if it fails. */
  async change(id: ChatId, change: ChatChange): Promise<void> {
    const over = { ...this.#changed.get(id), ...change };
    this.#changed = new Map(this.#changed).set(id, over);
    try {
      await api.changeChat(id, change);
      this.#changes += 1;
      this.update(id, change);
    } finally {
      // Unless it was changed once more meanwhile.
      if (this.#changed.get(id) === over) {
        this.#changed = new Map([...this.#changed].filter(([key]) => key !== id));
      }
    }
  }

  async remove(id: ChatId): Promise<void> {
    this.#gone = new Set(this.#gone).add(id);
    try {
      await api.deleteChat(id);
      this.#changes += 1;
    } catch (error) {
      this.#keep(id);
      throw error;
    }
  }

  /** Takes a deletion back. */
  async restore(id: ChatId): Promise<void> {
    await api.restoreChat(id);
    this.#changes += 1;
    this.#keep(id);
    await this.refresh();
  }

  #keep(id: ChatId): void {
    this.#gone = new Set([...this.#gone].filter((other) => other !== id));
  }

  #page(before?: string): Promise<ChatSummary[]> {
    return api.chats({ limit: CHAT_PAGE_SIZE, before, archived: this.#archived || undefined });
  }
}

function isOlder(a: ChatSummary, b: ChatSummary): boolean {
  return a.updatedAt < b.updatedAt || (a.updatedAt === b.updatedAt && a.id < b.id);
}

function same(a: ChatSummary, b: ChatSummary): boolean {
  return (
    a.title === b.title &&
    a.running === b.running &&
    a.asking === b.asking &&
    a.pinned === b.pinned &&
    a.archived === b.archived &&
    a.updatedAt === b.updatedAt
  );
}
