// The words in and around rich answers, loaded with what draws them.
export const answersEn = {
  preview: 'Preview',
  showSource: 'Source',
  showDiagram: 'Diagram',
  diagram: 'Diagram',
  fullSize: 'Full size',
  fitWidth: 'Fit the width',
  diagramBroken: 'This diagram has a mistake in its source, so it cannot be drawn.',
  diagramNotDrawn: 'This diagram could not be drawn: it is too large or takes too long.',
  image: 'Image',
  showImage: 'Show image',
  alwaysFromHost: (host: string) => `Always show images from ${host}`,
  neverFromHost: (host: string) => `Ask before showing images from ${host}`,
  imageFailed: (host: string) => `could not be loaded from ${host}`,
  tryAgain: 'Try again',
  openImage: (host: string) => `Open at ${host} in a new tab`,
  wrapLines: 'Wrap long lines',
  copyCsv: 'Copy as CSV',
  copyMarkdown: 'Copy as Markdown',
  footnotes: 'Footnotes',
  backToText: (name: string) => `Back to the reference of footnote ${name}`,
};

export type AnswersMessages = typeof answersEn;
