import type { MentionMessages } from './en';

export const mentionZhHans: MentionMessages = {
  mentions: '工具和专家',
  tool: '本条消息仅用此工具',
  expert: '本对话的专家',
  nothing: '没有匹配的工具或专家。',
};
