import type { JsonMessages } from './en';

export const jsonZhHant: JsonMessages = {
  view: '檢視',
  views: { tree: '樹狀', table: '表格', plain: '純文字' },
  items: (count) => `${count} 項`,
  fields: (count) => `${count} 個欄位`,
  rows: (count) => `${count} 列`,
  showMore: (more, all) => `再顯示 ${more} 項，共 ${all} 項`,
  showAll: '顯示全部',
  showLess: '收起',
  moreColumns: '還有未在此顯示的欄；樹狀檢視中有全部內容。',
  copyCsv: '複製為 CSV',
  copyJson: '複製為 JSON',
};
