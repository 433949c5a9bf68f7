// Whether an element has come near the part of its column that is seen.
import { flushSync } from 'svelte';
import { drawEverything, drawSoon } from './drawQueue';

/** About a screen and a half: a reader who scrolls finds things drawn. */
const MARGIN = '1200px 0px';

const observers = new WeakMap<Element, IntersectionObserver>();
const waiting = new Map<Element, () => void>();

/** Calls once, when it is near and there is time; at once where that cannot be known. Returns how
    to stop. */
export function whenNear(element: Element, then: () => void): () => void {
  const root = element.closest('[data-scrolls]');
  if (!root || typeof IntersectionObserver === 'undefined') {
    then();
    return () => {};
  }
  let observer = observers.get(root);
  if (!observer) {
    observer = new IntersectionObserver(arrived, { root, rootMargin: MARGIN });
    observers.set(root, observer);
  }
  waiting.set(element, then);
  observer.observe(element);
  return () => {
    observer.unobserve(element);
    waiting.delete(element);
  };
}

function arrived(entries: IntersectionObserverEntry[], observer: IntersectionObserver): void {
  const near = entries.filter(({ isIntersecting }) => isIntersecting);
  // What is seen comes before what is only near.
  near.sort((one, other) => distance(one) - distance(other));
  for (const { target } of near) observer.unobserve(target);
  drawSoon(
    near.map(({ target }) => () => {
      call(target);
      return false;
    }),
  );
}

/** How far it is from what is seen; the margin is around that. */
function distance({ boundingClientRect, rootBounds }: IntersectionObserverEntry): number {
  if (!rootBounds) return 0;
  const middle = (rootBounds.top + rootBounds.bottom) / 2;
  const { top, bottom } = boundingClientRect;
  return top > middle ? top - middle : Math.max(0, middle - bottom);
}

function call(element: Element): void {
  const then = waiting.get(element);
  waiting.delete(element);
  then?.();
}

// On paper everything is near. What is drawn then may wait for more to be.
addEventListener('beforeprint', () => {
  for (let rounds = 0; waiting.size > 0 && rounds < 4; rounds += 1) {
    for (const element of [...waiting.keys()]) call(element);
    flushSync();
    drawEverything();
  }
  drawEverything();
});
