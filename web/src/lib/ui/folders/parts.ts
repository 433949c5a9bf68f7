// What the page shows of folders, as one chunk: the first visit does not wait for it.
export { default as FolderDialog } from './FolderDialog.svelte';
export { default as FolderList } from './FolderList.svelte';
export { default as MoveDialog } from './MoveDialog.svelte';
