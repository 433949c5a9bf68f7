// The chats of this person as the side bar lists them, page by page: those in
// use, those in the archive, or those of one folder.
import { api } from '$lib/api/client';
import type { ChatChange, ChatId, ChatSummary, FolderId } from '$lib/api/types';
import { ResponseOrder } from '$lib/responseOrder';

/** How long a deletion can be taken back. */
export const UNDO_MS = 10_000;

/** More than a screen shows, so that the next page is there before its end is seen. */
export const CHAT_PAGE_SIZE = 60;

/** The server lists no more at once. */
const MAX_PAGE_SIZE = 500;

type OpenChat = Pick<ChatSummary, 'id' | 'asking'> &
  Partial<Pick<ChatSummary, 'running' | 'title'>>;

export class ChatList {
  loaded = $state(false);
  /** There are older ones on the server. */
  more = $state(false);
  /** What the open chat says about itself, sooner than the server tells of its row. */
  open = $state.raw<OpenChat>();
  #all = $state.raw<readonly ChatSummary[]>([]);
  /** Deleted by this page. A refresh under way may still know them. */
  #gone = $state.raw<ReadonlySet<ChatId>>(new Set());
  /** What the server has not confirmed. No refresh knows it, so it lies over the list. */
  #changed = $state.raw<ReadonlyMap<ChatId, ChatChange>>(new Map());

  /** How many pages are on their way, and what was put or dropped meanwhile: they may not know
      it. */
  #reading = 0;
  #news = new Map<ChatId, ChatSummary | undefined>();
  #order = new ResponseOrder();
  #loadingMore = false;
  #archived: boolean;
  #folderId?: FolderId;

  chats = $derived(
    this.#all
      .filter((chat) => !this.#gone.has(chat.id))
      .map((chat) => ({
        ...chat,
        ...(chat.id === this.open?.id && this.open),
        ...applied(chat, this.#changed.get(chat.id)),
      }))
      .filter((chat) => this.#belongs(chat)),
  );

  constructor(which: 'inUse' | 'archived' | { folderId: FolderId } = 'inUse') {
    this.#archived = which === 'archived';
    if (typeof which === 'object') this.#folderId = which.folderId;
  }

  /** Reads again as many as are listed. */
  async refresh(): Promise<void> {
    const limit = Math.min(Math.max(this.#all.length, CHAT_PAGE_SIZE), MAX_PAGE_SIZE);
    const isNewest = this.#order.send();
    await this.#read({ limit }, (page) => {
      if (!isNewest()) return;
      this.#all = page;
      this.more = page.length >= limit;
      this.loaded = true;
    });
  }

  /** The next page. */
  async loadMore(): Promise<void> {
    const last = this.#all.findLast((chat) => !chat.pinned);
    if (!this.more || this.#loadingMore || !last) return;
    this.#loadingMore = true;
    try {
      const before = `${last.updatedAt}.${last.id}`;
      await this.#read({ limit: CHAT_PAGE_SIZE, before }, (page) => {
        const known = new Set(this.#all.map(({ id }) => id));
        this.#all = [...this.#all, ...page.filter(({ id }) => !known.has(id))];
        this.more = page.length >= CHAT_PAGE_SIZE;
      });
    } finally {
      this.#loadingMore = false;
    }
  }

  async create(change: ChatChange = {}): Promise<ChatSummary> {
    const chat = await api.createChat(change);
    this.put(chat);
    return chat;
  }

  /** A chat as it is on the server now. */
  put(chat: ChatSummary): void {
    const old = this.#all.find(({ id }) => id === chat.id);
    // A turn writes all the time: chats in which one runs would change places again and again.
    const isSameTurn = chat.running !== undefined && chat.running === old?.running;
    this.#take(chat.id, isSameTurn ? { ...chat, updatedAt: old.updatedAt } : chat);
  }

  /** A chat that is gone on the server. */
  drop(id: ChatId): void {
    this.#take(id, undefined);
    this.#keep(id);
  }

  /** Renames, pins, moves, puts into the archive or takes out of it, or gives it another expert:
      shown at once, and back if it fails. */
  async change(id: ChatId, change: ChatChange): Promise<ChatSummary> {
    const over = { ...this.#changed.get(id), ...change };
    this.#changed = new Map(this.#changed).set(id, over);
    try {
      const chat = await api.changeChat(id, change);
      this.put(chat);
      return chat;
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
    } catch (error) {
      this.#keep(id);
      throw error;
    }
  }

  /** Takes a deletion back. */
  async restore(id: ChatId): Promise<void> {
    const chat = await api.restoreChat(id);
    this.#keep(id);
    this.put(chat);
  }

  #take(id: ChatId, chat: ChatSummary | undefined): void {
    if (this.#reading > 0) this.#news.set(id, chat);
    if (this.loaded) this.#all = this.#with(id, chat);
  }

  /** The list with a chat at its place, or without it. */
  #with(id: ChatId, chat: ChatSummary | undefined): readonly ChatSummary[] {
    const others = this.#all.filter((other) => other.id !== id);
    if (!chat || !this.#belongs(chat)) return others;
    const isFirst = (other: ChatSummary) => this.#precedes(chat, other);
    const index = others.findIndex(isFirst);
    if (index >= 0) return others.toSpliced(index, 0, chat);
    // What is older than the last one of the list may stand on a page that is not loaded.
    return this.more && !this.#isOnTop(chat) ? others : [...others, chat];
  }

  /** As the server orders them. */
  #precedes(chat: ChatSummary, other: ChatSummary): boolean {
    const onTop = this.#isOnTop(chat);
    return onTop === this.#isOnTop(other) ? isOlder(other, chat) : onTop;
  }

  /** A temporary one is in no list. */
  #belongs({ archived, folderId, temporary }: ChatSummary): boolean {
    if (temporary || archived !== this.#archived) return false;
    return this.#folderId === undefined || folderId === this.#folderId;
  }

  #isOnTop({ pinned }: ChatSummary): boolean {
    return pinned && !this.#archived;
  }

  #keep(id: ChatId): void {
    this.#gone = new Set([...this.#gone].filter((other) => other !== id));
  }

  /** Reads a page. What happened since it was asked for lies over what `show` makes of it. */
  async #read(
    page: { limit: number; before?: string },
    show: (page: ChatSummary[]) => void,
  ): Promise<void> {
    if (this.#reading === 0) this.#news.clear();
    this.#reading += 1;
    try {
      const which = { archived: this.#archived || undefined, folder: this.#folderId };
      show(await api.chats({ ...page, ...which }));
      for (const [id, chat] of this.#news) this.#all = this.#with(id, chat);
    } finally {
      this.#reading -= 1;
    }
  }
}

/** A change that the server has not confirmed, over the chat that it is of. */
function applied({ folderId }: ChatSummary, change?: ChatChange): Partial<ChatSummary> {
  if (!change) return {};
  const folder = change.folderId === undefined ? folderId : (change.folderId ?? undefined);
  return { ...change, folderId: folder };
}

function isOlder(a: ChatSummary, b: ChatSummary): boolean {
  return a.updatedAt < b.updatedAt || (a.updatedAt === b.updatedAt && a.id < b.id);
}
