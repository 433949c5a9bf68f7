const GAP_PX = 4;

/** Puts what floats beside what opened it: below where there is room, or above, and inside the
    window. */
export function anchor(floating: HTMLElement, opener: HTMLElement, above = false): void {
  const { left, right, top, bottom } = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = floating;
  const below = !above && innerHeight - bottom > height + GAP_PX;
  floating.style.top = `${below ? bottom + GAP_PX : Math.max(GAP_PX, top - height - GAP_PX)}px`;
  const fitsRight = left + width + GAP_PX < innerWidth;
  floating.style.left = `${fitsRight ? left : Math.max(GAP_PX, right - width)}px`;
}
