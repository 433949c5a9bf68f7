// The words of the artifact panel, loaded with it.
export const artifactsEn = {
  artifact: (title: string) => `Artifact: ${title}`,
  untitled: { html: 'HTML page', svg: 'SVG image' },
  view: 'View',
  views: { preview: 'Preview', code: 'Code' },
  version: (index: number, count: number) => `Version ${index} of ${count}`,
  versionShort: (index: number, count: number) => `Version ${index}/${count}`,
  previousVersion: 'Previous version',
  nextVersion: 'Next version',
  download: 'Download',
  previewOf: (title: string) => `Preview of ${title}`,
  apart: 'Runs isolated from Tenon and the network.',
};

export type ArtifactsMessages = typeof artifactsEn;
