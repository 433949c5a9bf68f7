import type { ArtifactsMessages } from './en';

export const artifactsZhHant: ArtifactsMessages = {
  artifact: (title) => `作品：${title}`,
  untitled: { html: 'HTML 頁面', svg: 'SVG 圖像' },
  view: '檢視',
  views: { preview: '預覽', code: '程式碼' },
  version: (index, count) => `第 ${index} 個版本，共 ${count} 個`,
  versionShort: (index, count) => `版本 ${index}/${count}`,
  previousVersion: '上一版',
  nextVersion: '下一版',
  download: '下載',
  previewOf: (title) => `${title} 的預覽`,
  apart: '與 Tenon 和網路隔離執行。',
};
