const GAP = 4;

/** Puts what floats beside what opened it: below where there is room, or above, and inside the window. */
export function anchor(floating: HTMLElement, opener: HTMLElement, above = false): void {
  const { left, right, top, bottom } = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = floating;
  const below = !above && innerHeight - bottom > height + GAP;
  floating.style.top = `${below ? bottom + GAP : Math.max(GAP, top - height - GAP)}px`;
  const fitsRight = left + width + GAP < innerWidth;
  floating.style.left = `${fitsRight ? left : Math.max(GAP, right - width)}px`;
}
