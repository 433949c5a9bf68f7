// Where the content of a file is: readers of a shared chat get it elsewhere than its owner.
import { getContext, setContext } from 'svelte';
import { filePath } from '$lib/api/paths';
import type { FileId } from '$lib/api/types';

type FileLocator = (id: FileId) => string;

const KEY = Symbol('file locator');

export function setFileLocator(locate: FileLocator): void {
  setContext(KEY, locate);
}

export function getFileLocator(): FileLocator {
  return getContext<FileLocator | undefined>(KEY) ?? filePath;
}
