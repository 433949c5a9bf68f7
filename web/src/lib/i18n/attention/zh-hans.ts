import type { AttentionMessages } from './en';

export const attentionZhHans: AttentionMessages = {
  ready: (title) => `“${title}”的回答已完成。`,
  asks: (title) => `“${title}”在等你。`,
  offer: '这次花了一些时间。回答完成时要通知你吗？',
  accept: '通知我',
};
