import type { AnswersMessages } from './en';

export const answersZhHans: AnswersMessages = {
  wrapLines: '长行自动换行',
  copyCsv: '复制为 CSV',
  copyMarkdown: '复制为 Markdown',
  footnotes: '脚注',
  backToText: (name) => `回到脚注 ${name} 所在之处`,
};
