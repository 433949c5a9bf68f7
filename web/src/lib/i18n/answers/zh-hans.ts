import type { AnswersMessages } from './en';

export const answersZhHans: AnswersMessages = {
  preview: '预览',
  showSource: '源码',
  showDiagram: '图表',
  diagram: '图表',
  fullSize: '原始大小',
  fitWidth: '适应宽度',
  diagramBroken: '图表源码有误，无法绘制。',
  diagramNotDrawn: '无法绘制这个图表：它太大，或耗时过长。',
  image: '图片',
  showImage: '显示图片',
  alwaysFromHost: (host) => `始终显示来自 ${host} 的图片`,
  neverFromHost: (host) => `显示来自 ${host} 的图片前先询问`,
  imageFailed: (host) => `无法从 ${host} 加载`,
  tryAgain: '重试',
  openImage: (host) => `在新标签页中打开 ${host} 上的图片`,
  wrapLines: '长行自动换行',
  copyCsv: '复制为 CSV',
  copyMarkdown: '复制为 Markdown',
  footnotes: '脚注',
  backToText: (name) => `回到脚注 ${name} 所在之处`,
};
