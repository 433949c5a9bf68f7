// What the frame that draws diagrams answers.

export interface DrawnDiagram {
  /** Shown as a picture only: in one, scripts do not run and nothing is loaded. */
  svg: string;
  width: number;
  height: number;
}

export interface BrokenDiagram {
  /** In the words of Mermaid; empty where it never answered. */
  error: string;
}

export type DiagramResult = DrawnDiagram | BrokenDiagram;

export interface DiagramReply {
  id: number;
  result: DiagramResult;
}

/** Larger ones would stop the page while they are drawn as a picture. */
const MAX_SVG_CHARS = 4_000_000;
const MAX_SIDE_PX = 20_000;
const MAX_ERROR_CHARS = 600;

/** A message of the frame, judged: it may say anything. */
export function diagramReply(message: unknown): DiagramReply | 'ready' | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, ready, id, svg, width, height, error } = message as Record<string, unknown>;
  if (type !== 'diagram') return undefined;
  if (ready === true) return 'ready';
  if (typeof id !== 'number') return undefined;
  if (typeof error === 'string') return { id, result: { error: error.slice(0, MAX_ERROR_CHARS) } };
  if (typeof svg !== 'string' || !isSide(width) || !isSide(height)) return undefined;
  if (svg.length > MAX_SVG_CHARS) return { id, result: { error: '' } };
  return { id, result: { svg, width, height } };
}

/** Not a blob's address: opened on its own, that would stand under Tenon's. */
export function pictureAddress(svg: string): string {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

function isSide(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= MAX_SIDE_PX;
}
