// What is said about chats while the page is in the background.

export const attentionEn = {
  ready: (title: string) => `The answer in “${title}” is ready.`,
  asks: (title: string) => `“${title}” is waiting for you.`,
  offer: 'That took a while. Should Tenon notify you when an answer is ready?',
  accept: 'Notify me',
};

export type AttentionMessages = typeof attentionEn;
