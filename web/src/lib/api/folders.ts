// Folders of chats.
import { request } from './client';
import type { FolderChange, FolderId, FolderView } from './types';

export const folders = {
  all: () => request<FolderView[]>('GET', '/api/folders'),
  add: (folder: FolderChange) => request<FolderView>('POST', '/api/folders', folder),
  change: (id: FolderId, change: FolderChange) =>
    request<FolderView>('PATCH', folderPath(id), change),
  remove: (id: FolderId) => request<void>('DELETE', folderPath(id)),
};

function folderPath(id: FolderId): string {
  return `/api/folders/${encodeURIComponent(id)}`;
}
