// Actions on whole chats: rename, pin, move, archive, delete and undo, export and import. Errors
// are shown as toasts.
import { api, type ExportOptions } from '$lib/api/client';
import type {
  ChatChange,
  ChatId,
  ChatSummary,
  ExpertId,
  FolderId,
  NewShare,
  ShareView,
} from '$lib/api/types';
import { truncateTitle } from '$lib/format/truncate';
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';
import { Refresher } from '$lib/refresher';
import { router } from '$lib/router.svelte';
import { toasts, type Toast } from '$lib/ui/toasts.svelte';
import { fileName, readExport, save } from './file';
import { ChatList, UNDO_MS } from './list.svelte';

export class ChatManager {
  readonly list = new ChatList();
  readonly archive = new ChatList('archived');

  /** Those of folders that were opened. */
  #folderLists = new Map<FolderId, ChatList>();
  /** What says of a chat that it is in the archive, for as long as it may. */
  #archiveToasts = new Map<ChatId, Toast['id']>();
  #archiveRefresher = new Refresher(() => this.archive.refresh());
  #forget: (id: ChatId) => void;

  /** `forget` is called for every chat that is deleted for good. */
  constructor(forget: (id: ChatId) => void) {
    this.#forget = forget;
  }

  /** In the list, in the archive or in a folder. */
  find(id: ChatId): ChatSummary | undefined {
    for (const { chats } of this.#lists) {
      const found = chats.find((chat) => chat.id === id);
      if (found) return found;
    }
    return undefined;
  }

  /** The chats of a folder. They are read when they are first asked for. */
  inFolder(id: FolderId): ChatList {
    const known = this.#folderLists.get(id);
    if (known) return known;
    const list = new ChatList({ folderId: id });
    this.#folderLists.set(id, list);
    // What cannot be read now is read when the page is connected again.
    list.refresh().catch(() => {});
    return list;
  }

  /** Reads again what is listed. */
  async refresh(): Promise<void> {
    const { list, archive } = this;
    const folders = [...this.#folderLists.values()].map((list) => list.refresh());
    await Promise.all([list.refresh(), archive.loaded && archive.refresh(), ...folders]);
  }

  /** Called when the archive is shown. */
  refreshArchive(): void {
    void this.#archiveRefresher.now();
  }

  /** A chat as it is on the server now: in one list or in the other. */
  put(chat: ChatSummary): void {
    for (const list of this.#lists) list.put(chat);
  }

  /** A chat that was deleted elsewhere. */
  drop(id: ChatId): void {
    for (const list of this.#lists) list.drop(id);
  }

  async rename(id: ChatId, title: string): Promise<void> {
    await this.#change(id, { title }, language.messages.notRenamed);
  }

  async pin(id: ChatId, pinned: boolean): Promise<void> {
    await this.#change(id, { pinned }, language.messages.notChanged);
  }

  async setExpert(id: ChatId, expertId: ExpertId): Promise<boolean> {
    return this.#change(id, { expertId }, language.messages.notChanged);
  }

  /** Into a folder, or out of the one it is in. */
  async move(id: ChatId, folderId: FolderId | null): Promise<void> {
    await this.#change(id, { folderId }, language.messages.notMoved);
  }

  /** A temporary chat becomes one like others. */
  async keep(id: ChatId): Promise<boolean> {
    return this.#change(id, { temporary: false }, language.messages.notChanged);
  }

  /** A temporary chat was left. */
  async discard(id: ChatId): Promise<void> {
    try {
      await this.list.remove(id);
    } catch {
      // The server deletes it a day later.
      return;
    }
    const over = setTimeout(() => this.#forget(id), UNDO_MS);
    const undo = async () => {
      clearTimeout(over);
      try {
        await this.list.restore(id);
        router.go({ name: 'chat', chatId: id });
      } catch (error) {
        toasts.show(language.messages.notRestored(errorText(error)));
      }
    };
    const { temporaryDeleted, undo: label } = language.messages;
    toasts.show(temporaryDeleted, { label, run: () => void undo() }, UNDO_MS);
  }

  async setArchived(id: ChatId, archived: boolean, title: string): Promise<void> {
    const { archivedNow, undo, notChanged } = language.messages;
    const done = await this.#change(id, { archived }, notChanged);
    if (!done || !archived) return;
    const back = { label: undo, run: () => void this.setArchived(id, false, title) };
    this.#archiveToasts.set(id, toasts.show(archivedNow(truncateTitle(title)), back));
  }

  async remove(id: ChatId, title: string): Promise<void> {
    const wasOpen = router.chatId === id;
    if (wasOpen) router.go({ name: 'new' });
    const list = this.#listOf(id);
    try {
      await list.remove(id);
    } catch (error) {
      if (wasOpen) router.go({ name: 'chat', chatId: id });
      toasts.show(language.messages.notDeleted(errorText(error)));
      return;
    }
    const archived = this.#archiveToasts.get(id);
    if (archived !== undefined) toasts.dismiss(archived);
    const over = setTimeout(() => this.#forget(id), UNDO_MS);
    const undo = async () => {
      clearTimeout(over);
      try {
        await list.restore(id);
      } catch (error) {
        toasts.show(language.messages.notRestored(errorText(error)));
        return;
      }
      if (wasOpen) router.go({ name: 'chat', chatId: id });
    };
    const { deleted, undo: label } = language.messages;
    toasts.show(deleted(truncateTitle(title)), { label, run: () => void undo() }, UNDO_MS);
  }

  /** Without a way back: one of many. Fails with what the server said. */
  async removeForGood(id: ChatId): Promise<void> {
    await this.#listOf(id).remove(id);
    this.#forget(id);
  }

  async export(id: ChatId, title: string, options: ExportOptions): Promise<void> {
    try {
      save(await api.exportChat(id, options), fileName(title, options.format));
    } catch (error) {
      toasts.show(language.messages.notExported(errorText(error)));
    }
  }

  /** Brings in a chat that was exported, and opens it. */
  async import(file: File): Promise<void> {
    const t = language.messages;
    const chat = await readExport(file);
    if (!chat) {
      toasts.show(t.notImported(t.noExport(file.name)));
      return;
    }
    try {
      const made = await api.importChat(chat);
      this.put(made);
      router.go({ name: 'chat', chatId: made.id });
    } catch (error) {
      toasts.show(t.notImported(errorText(error)));
    }
  }

  // Sharing has a window of its own, which says what goes wrong there.

  share(id: ChatId): Promise<ShareView | null> {
    return api.share(id);
  }

  makeShare(id: ChatId, share: NewShare): Promise<ShareView> {
    return api.makeShare(id, share);
  }

  revokeShare(id: ChatId): Promise<void> {
    return api.revokeShare(id);
  }

  async #change(id: ChatId, change: ChatChange, failed: (why: string) => string): Promise<boolean> {
    try {
      this.put(await this.#listOf(id).change(id, change));
      return true;
    } catch (error) {
      toasts.show(failed(errorText(error)));
      return false;
    }
  }

  get #lists(): ChatList[] {
    return [this.list, this.archive, ...this.#folderLists.values()];
  }

  #listOf(id: ChatId): ChatList {
    return this.archive.chats.some((chat) => chat.id === id) ? this.archive : this.list;
  }
}
