import type { PagesMessages } from './en';

export const pagesZhHant: PagesMessages = {
  pageFrom: (tool) => `${tool} 的頁面`,
  apart: '與 Tenon 和網路隔離',
  fullScreen: '全螢幕',
  leaveFullScreen: '結束全螢幕',
  shownElsewhere: '這裡曾顯示一個頁面，只有這個對話的擁有者能看到。',
};
