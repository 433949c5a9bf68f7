import type { AttentionMessages } from './en';

export const attentionZhHant: AttentionMessages = {
  ready: (title) => `「${title}」的回答已完成。`,
  asks: (title) => `「${title}」在等你。`,
  offer: '這次花了一些時間。回答完成時要通知你嗎？',
  accept: '通知我',
};
