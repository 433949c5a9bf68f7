import type { JsonMessages } from './en';

export const jsonZhHans: JsonMessages = {
  view: '视图',
  views: { tree: '树形', table: '表格', plain: '纯文本' },
  items: (count) => `${count} 项`,
  fields: (count) => `${count} 个字段`,
  rows: (count) => `${count} 行`,
  showMore: (more, all) => `再显示 ${more} 项，共 ${all} 项`,
  showAll: '显示全部',
  showLess: '收起',
  moreColumns: '还有未在此显示的列；树形视图中有全部内容。',
  copyCsv: '复制为 CSV',
  copyJson: '复制为 JSON',
};
