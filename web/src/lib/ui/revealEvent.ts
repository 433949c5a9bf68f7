/** Asks the scroll view around an element to bring its beginning into view. */
export const REVEAL_EVENT = 'begins';

export function emitReveal(part: Element | undefined): void {
  part?.dispatchEvent(new CustomEvent(REVEAL_EVENT, { bubbles: true }));
}
