import type { AccountMessages } from './en';

export const accountZhHant: AccountMessages = {
  logOut: '登出',
  notLoggedOut: (why) => `無法登出：${why}`,
  settings: '設定',
  personMenu: (name) => `${name}：設定與登出`,
  askAdminForModel: '可請管理員連接。',
  loggedOutTitle: '你已被登出',
};
