// What can be done with a chat, in the order of its menus.
import Archive from '@lucide/svelte/icons/archive';
import ArchiveRestore from '@lucide/svelte/icons/archive-restore';
import FileBraces from '@lucide/svelte/icons/file-braces';
import FileText from '@lucide/svelte/icons/file-text';
import Pencil from '@lucide/svelte/icons/pencil';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Share from '@lucide/svelte/icons/share-2';
import Trash from '@lucide/svelte/icons/trash';
import type { Messages } from '$lib/i18n/en';
import type { MenuItem } from './menu';

/** A chat as far as its menu must know it. */
export interface MenuChat {
  pinned: boolean;
  archived: boolean;
}

export interface ChatActions {
  rename(title: string): void;
  pin(pinned: boolean): void;
  archive(archived: boolean): void;
  share(): void;
  export(format: 'json' | 'markdown'): void;
  /** Asks first. */
  remove(): void;
}

/** `rename` begins to; the name is given afterwards. */
export function chatMenu(
  t: Messages,
  { pinned, archived }: MenuChat,
  actions: ChatActions,
  rename: () => void,
): MenuItem[] {
  const pin = pinned
    ? { label: t.unpin, icon: PinOff, run: () => actions.pin(false) }
    : { label: t.pin, icon: Pin, run: () => actions.pin(true) };
  return [
    { label: t.rename, icon: Pencil, run: rename },
    ...(archived ? [] : [pin]),
    { label: t.share, icon: Share, run: () => actions.share() },
    { label: t.exportMarkdown, icon: FileText, run: () => actions.export('markdown') },
    { label: t.exportJson, icon: FileBraces, run: () => actions.export('json') },
    archived
      ? { label: t.unarchive, icon: ArchiveRestore, run: () => actions.archive(false) }
      : { label: t.archive, icon: Archive, run: () => actions.archive(true) },
    { label: t.delete, icon: Trash, danger: true, run: () => actions.remove() },
  ];
}
