// HTML pages that tools show.
import { SHOWN_PAGE, type Content } from '$lib/api/types';
import type { Call } from './chat';

export type ShownPage = Extract<Content, { type: 'blob' }>;

export function isShownPage(content: Content): content is ShownPage {
  return content.type === 'blob' && content.mediaType === SHOWN_PAGE;
}

/** The pages in the output of a call. */
export function shownPages({ output }: Call): ShownPage[] {
  return output?.content.filter(isShownPage) ?? [];
}

/** The height of a page until it reports one. */
export const DEFAULT_HEIGHT = 320;
const MIN_HEIGHT = 160;
/** Higher than any screen; how much of it is shown, the screen decides. */
const MAX_HEIGHT = 10_000;

/** The height that a message from a page asks for, where it is such a message. */
export function heightFromMessage(message: unknown): number | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, height } = message as { type?: unknown; height?: unknown };
  if (type !== 'iframe:height' || typeof height !== 'number' || Number.isNaN(height)) {
    return undefined;
  }
  return Math.min(Math.max(Math.ceil(height), MIN_HEIGHT), MAX_HEIGHT);
}
