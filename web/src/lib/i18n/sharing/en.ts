// What is said where a chat is shared. It is loaded with that window.

export const sharingEn = {
  shareMeans:
    'Whoever has the link can read this chat up to its latest message, without an account.',
  shareWithTools: 'Include what tools were given and gave',
  shareToolsHidden: 'Readers see which tools were used, but not what went in or came out.',
  shareToolsShown: 'Readers also see what went into the tools and what came out.',
  makeLink: 'Make a link',
  link: 'Link',
  copyLink: 'Copy link',
  shareBehind: 'The link does not show the latest messages.',
  updateLink: 'Show them',
  takeBack: 'Take the link back',
  takeBackSure: 'Take the link back? It will stop working for everybody who has it.',
  linkTaken: 'The link no longer works.',
};

export type SharingWords = typeof sharingEn;
