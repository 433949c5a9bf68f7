import type { SharingMessages } from './en';

export const sharingZhHant: SharingMessages = {
  shareMeans: '任何拿到連結的人都能閱讀到最新一則訊息為止的內容，不需要帳號。',
  shareWithTools: '包含工具的輸入和輸出',
  shareToolsHidden: '讀者看得到用了哪些工具，但看不到輸入和輸出。',
  shareToolsShown: '讀者也看得到工具的輸入和輸出。',
  makeLink: '產生連結',
  link: '連結',
  copyLink: '複製連結',
  shareBehind: '連結中還沒有最新的訊息。',
  updateLink: '更新',
  revokeLink: '收回連結',
  revokeLinkAsk: '收回連結？所有拿到它的人都將無法再開啟。',
  linkRevoked: '連結已失效。',
};
