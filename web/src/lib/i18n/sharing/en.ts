// What is said where a chat is shared. Loaded on demand.

export const sharingEn = {
  shareMeans:
    'Anyone with the link can read this chat up to its latest message, without an account.',
  shareWithTools: 'Include tool input and output',
  shareToolsHidden: 'Readers see which tools were used, but not their input and output.',
  shareToolsShown: 'Readers also see tool input and output.',
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
