// The words in and around rich answers, loaded with what draws them.
export const answersEn = {
  wrapLines: 'Wrap long lines',
  copyCsv: 'Copy as CSV',
  copyMarkdown: 'Copy as Markdown',
  footnotes: 'Footnotes',
  backToText: (name: string) => `Back to where footnote ${name} is`,
};

export type AnswersMessages = typeof answersEn;
