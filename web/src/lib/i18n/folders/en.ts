// What is said about folders of chats. Loaded on demand.

export const foldersEn = {
  folderMenu: (name: string) => `Options for the folder “${name}”`,
  newFolder: 'New folder',
  folderName: 'Folder name',
  newChatIn: (name: string) => `New chat in “${name}”`,
  newChatHere: 'New chat here',
  settings: 'Folder settings…',
  settingsOf: (name: string) => `Folder “${name}”`,
  empty: 'No chats in this folder.',
  more: 'Load more chats',
  deleteAsk: (name: string) => `Delete the folder “${name}”?`,
  deleteHelp: 'Its chats stay, in no folder. Its instructions are lost.',
  notDeleted: (why: string) => `Not deleted: ${why}`,
  notMade: (why: string) => `Folder not created: ${why}`,
  instructions: 'Instructions',
  instructionsHint: 'Models get them with each message of the chats in this folder.',
  expert: 'Expert',
  expertHint: 'New chats in this folder begin with it.',
  noExpert: 'General',
  goneExpert: 'An expert that no longer exists',
  nameMissing: 'Give it a name.',
  moveTitle: (title: string) => `Move “${title}”`,
  noFolder: 'No folder',
  create: 'Create and move',
};

export type FoldersMessages = typeof foldersEn;
