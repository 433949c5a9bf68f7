// Whether an element has come near the part of its column that is seen.
import { flushSync } from 'svelte';

/** About a screen and a half: a reader who scrolls finds things drawn. */
const MARGIN = '1200px 0px';
/** Half of a frame at 60 Hz: the browser needs the rest to lay out and paint. */
const DRAW_BUDGET_MS = 8;

const observers = new WeakMap<Element, IntersectionObserver>();
const waiting = new Map<Element, () => void>();

/** Calls once, when it is near; at once where that cannot be known. Returns how to stop. */
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

/** Those that are near and not drawn yet. */
let queue: Element[] = [];

function arrived(entries: IntersectionObserverEntry[], observer: IntersectionObserver): void {
  const near = entries.filter(({ isIntersecting }) => isIntersecting);
  // What is seen comes before what is only near.
  near.sort((one, other) => distance(one) - distance(other));
  for (const { target } of near) observer.unobserve(target);
  const isDrawing = queue.length > 0;
  queue.push(...near.map(({ target }) => target));
  if (!isDrawing) draw();
}

/** Draws for as long as a frame of the screen has room for, and goes on with the next one. */
function draw(): void {
  const began = performance.now();
  while (performance.now() - began < DRAW_BUDGET_MS) {
    const element = queue.shift();
    if (!element) return;
    call(element);
    flushSync();
  }
  if (queue.length > 0) requestAnimationFrame(draw);
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
  }
});
