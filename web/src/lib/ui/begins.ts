/** Tells the column around a part that somebody should read it from its beginning. */
export const BEGINS = 'begins';

export function tellBegins(part: Element | undefined): void {
  part?.dispatchEvent(new CustomEvent(BEGINS, { bubbles: true }));
}
