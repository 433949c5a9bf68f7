import type { PagesMessages } from './en';

export const pagesZhHans: PagesMessages = {
  pageFrom: (tool) => `${tool} 的页面`,
  apart: '与 Tenon 和网络隔离',
  fullScreen: '全屏',
  leaveFullScreen: '退出全屏',
  shownElsewhere: '这里曾显示一个页面，只有这个对话的所有者能看到。',
};
