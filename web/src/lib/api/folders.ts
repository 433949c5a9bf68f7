// Folders of chats.
import { request } from './client';
import type { ChatFolderChange, FolderId, FolderView } from './types';

export const folders = {
  all: () => request<FolderView[]>('GET', '/api/folders'),
  add: (folder: ChatFolderChange) => request<FolderView>('POST', '/api/folders', folder),
  change: (id: FolderId, change: ChatFolderChange) =>
    request<FolderView>('PATCH', folderPath(id), change),
  remove: (id: FolderId) => request<void>('DELETE', folderPath(id)),
};

function folderPath(id: FolderId): string {
  return `/api/folders/${encodeURIComponent(id)}`;
}
