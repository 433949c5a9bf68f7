// The folders that chats are kept in.
import { folders as api } from '$lib/api/folders';
import type { ChatFolderChange, FolderId, FolderView } from '$lib/api/types';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { loadSetting, saveSetting } from '$lib/storage';

const OPEN_KEY = 'foldersOpen';

export class Folders {
  all = $state.raw<readonly FolderView[]>([]);
  loaded = $state(false);
  /** Those whose chats are listed in the side bar. */
  #open = $state.raw<ReadonlySet<FolderId>>(new Set());

  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#read());

  /** Never fails: what cannot be read is read again later. */
  refresh(): Promise<void> {
    return this.#refresher.now();
  }

  /** Called on change events. */
  refreshSoon(): void {
    this.#refresher.soon();
  }

  /** It is known only now whose folders these are. */
  reread(): void {
    this.#open = new Set(loadSetting(OPEN_KEY)?.split(' '));
  }

  find(id: FolderId | undefined): FolderView | undefined {
    return this.all.find((folder) => folder.id === id);
  }

  isOpen(id: FolderId): boolean {
    return this.#open.has(id);
  }

  setOpen(id: FolderId, open: boolean): void {
    const others = [...this.#open].filter((other) => other !== id);
    this.#open = new Set(open ? [...others, id] : others);
    saveSetting(OPEN_KEY, [...this.#open].join(' '));
  }

  // These fail with what the server said.

  async add(folder: ChatFolderChange): Promise<FolderView> {
    const made = await api.add(folder);
    this.#put([...this.all.filter(({ id }) => id !== made.id), made]);
    this.setOpen(made.id, true);
    return made;
  }

  async change(id: FolderId, change: ChatFolderChange): Promise<void> {
    const changed = await api.change(id, change);
    this.#put(this.all.map((folder) => (folder.id === id ? changed : folder)));
  }

  async remove(id: FolderId): Promise<void> {
    await api.remove(id);
    this.#put(this.all.filter((folder) => folder.id !== id));
    this.setOpen(id, false);
  }

  /** A page that was asked for before this knows nothing of it. */
  #put(all: readonly FolderView[]): void {
    this.#order.discard();
    this.all = all;
  }

  async #read(): Promise<void> {
    const isNewest = this.#order.send();
    const all = await api.all();
    if (!isNewest()) return;
    this.all = all;
    this.loaded = true;
  }
}
