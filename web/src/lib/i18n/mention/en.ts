// The menu behind an `@`. Loaded on demand.

export const mentionEn = {
  mentions: 'Tools and experts',
  tool: 'only this tool, once',
  expert: 'expert of this chat',
  nothing: 'No tool or expert matches.',
};

export type MentionMessages = typeof mentionEn;
