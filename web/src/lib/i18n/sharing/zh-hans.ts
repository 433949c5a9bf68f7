import type { SharingMessages } from './en';

export const sharingZhHans: SharingMessages = {
  shareMeans: '任何拿到链接的人都能阅读到最新一条消息为止的内容，无需账号。',
  shareWithTools: '包含工具的输入和输出',
  shareToolsHidden: '读者能看到用了哪些工具，但看不到输入和输出。',
  shareToolsShown: '读者还能看到工具的输入和输出。',
  makeLink: '生成链接',
  link: '链接',
  copyLink: '复制链接',
  shareBehind: '链接中还没有最新的消息。',
  updateLink: '更新',
  revokeLink: '撤回链接',
  revokeLinkAsk: '撤回链接？所有拿到它的人都将无法再打开。',
  linkRevoked: '链接已失效。',
};
