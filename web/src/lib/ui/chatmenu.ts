// What can be done with a chat, in the order of its menus.
import Archive from '@lucide/svelte/icons/archive';
import ArchiveRestore from '@lucide/svelte/icons/archive-restore';
import FileDown from '@lucide/svelte/icons/file-down';
import FolderInput from '@lucide/svelte/icons/folder-input';
import Pencil from '@lucide/svelte/icons/pencil';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Share from '@lucide/svelte/icons/share-2';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import Trash from '@lucide/svelte/icons/trash';
import type { Messages } from '$lib/i18n/en';
import type { MenuItem } from './menu';

/** A chat as far as its menu must know it. */
export interface MenuChat {
  pinned: boolean;
  archived: boolean;
  temporary?: boolean;
}

export interface ChatActions {
  rename(title: string): void;
  pin(pinned: boolean): void;
  archive(archived: boolean): void;
  share(): void;
  /** These ask where to, and how. */
  export(): void;
  move(): void;
  settings(): void;
  /** Asks first. */
  remove(): void;
}

/** `rename` begins to; the name is given afterwards. */
export function chatMenu(
  t: Messages,
  { pinned, archived, temporary }: MenuChat,
  actions: ChatActions,
  rename: () => void,
): MenuItem[] {
  const pin = pinned
    ? { label: t.unpin, icon: PinOff, run: () => actions.pin(false) }
    : { label: t.pin, icon: Pin, run: () => actions.pin(true) };
  const move = { label: t.moveToFolder, icon: FolderInput, run: () => actions.move() };
  const archive = archived
    ? { label: t.unarchive, icon: ArchiveRestore, run: () => actions.archive(false) }
    : { label: t.archive, icon: Archive, run: () => actions.archive(true) };
  return [
    { label: t.rename, icon: Pencil, run: rename },
    ...(archived || temporary ? [] : [pin]),
    ...(temporary ? [] : [move]),
    { label: t.chatSettings, icon: SlidersHorizontal, run: () => actions.settings() },
    { label: t.share, icon: Share, run: () => actions.share() },
    { label: t.exportChat, icon: FileDown, run: () => actions.export() },
    ...(temporary ? [] : [archive]),
    { label: t.delete, icon: Trash, danger: true, run: () => actions.remove() },
  ];
}
