import type { MentionMessages } from './en';

export const mentionZhHant: MentionMessages = {
  mentions: '工具與專家',
  tool: '這則訊息僅用此工具',
  expert: '此對話的專家',
  nothing: '沒有符合的工具或專家。',
};
