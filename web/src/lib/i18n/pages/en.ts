// The words around a page that a tool shows, loaded with the first one.
export const pagesEn = {
  pageFrom: (tool: string) => `Page from ${tool}`,
  apart: 'isolated from Tenon and the network',
  fullScreen: 'Full screen',
  leaveFullScreen: 'Leave full screen',
  shownElsewhere: 'A page was shown here. Only the owner of this chat can see it.',
};

export type PagesMessages = typeof pagesEn;
