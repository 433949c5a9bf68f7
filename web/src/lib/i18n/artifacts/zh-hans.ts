import type { ArtifactsMessages } from './en';

export const artifactsZhHans: ArtifactsMessages = {
  artifact: (title) => `作品：${title}`,
  untitled: { html: 'HTML 页面', svg: 'SVG 图像' },
  view: '视图',
  views: { preview: '预览', code: '代码' },
  version: (index, count) => `第 ${index} 个版本，共 ${count} 个`,
  versionShort: (index, count) => `版本 ${index}/${count}`,
  previousVersion: '上一版',
  nextVersion: '下一版',
  download: '下载',
  previewOf: (title) => `${title} 的预览`,
  apart: '与 Tenon 和网络隔离运行。',
};
