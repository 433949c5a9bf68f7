// Pages that tools want looked at, rather than kept.
import { SHOWN_PAGE, type Content } from '$lib/api/types';
import type { Call } from './chat';

export type ShownPage = Extract<Content, { type: 'blob' }>;

export function isShownPage(content: Content): content is ShownPage {
  return content.type === 'blob' && content.mediaType === SHOWN_PAGE;
}

/** What a call gave to be looked at. */
export function shownPages({ output }: Call): ShownPage[] {
  return output?.content.filter(isShownPage) ?? [];
}

/** A page before it has said how high it is, one that says nothing, and the least of all. */
export const USUAL_HEIGHT = 320;
const LEAST_HEIGHT = 160;
/** Higher than any screen; how much of it is shown, the screen decides. */
const MOST_HEIGHT = 10_000;

/** The height that a message from a page asks for, where it is such a message. */
export function heightIn(message: unknown): number | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, height } = message as { type?: unknown; height?: unknown };
  if (type !== 'iframe:height' || typeof height !== 'number' || Number.isNaN(height)) {
    return undefined;
  }
  return Math.min(Math.max(Math.ceil(height), LEAST_HEIGHT), MOST_HEIGHT);
}
