// What is said where a chat is shared. Loaded on demand.

export const sharingEn = {
  shareMeans:
    'Anyone with the link can read this chat up to its latest message, without an account.',
  shareWithTools: 'Include tool input and output',
  shareToolsHidden: 'Readers see which tools were used, but not their input and output.',
  shareToolsShown: 'Readers also see tool input and output.',
  shareWithFiles: 'Include attachments',
  shareFilesHidden: 'Readers do not see the files in your messages.',
  shareFilesShown: 'Readers can open the files in your messages.',
  exportTitle: (title: string) => `Export “${title}”`,
  exportFormat: 'Format',
  exportFormats: { markdown: 'Markdown, to read', json: 'JSON, to import again' },
  exportWithFiles: 'Include attachments',
  exportFilesHint: 'The files in your messages are saved along with the chat.',
  exportNow: 'Export',
  makeLink: 'Create link',
  link: 'Link',
  copyLink: 'Copy link',
  shareBehind: 'The link does not show the latest messages.',
  updateLink: 'Update link',
  revokeLink: 'Revoke link',
  revokeLinkAsk: 'Revoke the link? It will stop working for everyone who has it.',
  linkRevoked: 'The link no longer works.',
};

export type SharingMessages = typeof sharingEn;
