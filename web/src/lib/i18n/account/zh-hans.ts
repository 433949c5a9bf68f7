import type { AccountMessages } from './en';

export const accountZhHans: AccountMessages = {
  logOut: '退出登录',
  notLoggedOut: (why) => `未能退出登录：${why}`,
  settings: '设置',
  personMenu: (name) => `${name}：设置与退出登录`,
  askAdminForModel: '可请管理员连接。',
  loggedOutTitle: '登录已失效',
};
