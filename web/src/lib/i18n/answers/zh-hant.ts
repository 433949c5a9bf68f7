import type { AnswersMessages } from './en';

export const answersZhHant: AnswersMessages = {
  wrapLines: '長行自動換行',
  copyCsv: '複製為 CSV',
  copyMarkdown: '複製為 Markdown',
  footnotes: '註腳',
  backToText: (name) => `回到註腳 ${name} 所在之處`,
};
