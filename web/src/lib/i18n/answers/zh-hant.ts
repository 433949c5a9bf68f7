import type { AnswersMessages } from './en';

export const answersZhHant: AnswersMessages = {
  preview: '預覽',
  showSource: '原始碼',
  showDiagram: '圖表',
  diagram: '圖表',
  fullSize: '原始大小',
  fitWidth: '符合寬度',
  diagramBroken: '圖表原始碼有誤，無法繪製。',
  diagramNotDrawn: '無法繪製這個圖表：它太大，或耗時過久。',
  image: '圖片',
  showImage: '顯示圖片',
  alwaysFromHost: (host) => `一律顯示來自 ${host} 的圖片`,
  neverFromHost: (host) => `顯示來自 ${host} 的圖片前先詢問`,
  imageFailed: (host) => `無法從 ${host} 載入`,
  tryAgain: '重試',
  openImage: (host) => `在新分頁開啟 ${host} 上的圖片`,
  wrapLines: '長行自動換行',
  copyCsv: '複製為 CSV',
  copyMarkdown: '複製為 Markdown',
  footnotes: '註腳',
  backToText: (name) => `回到註腳 ${name} 所在之處`,
};
