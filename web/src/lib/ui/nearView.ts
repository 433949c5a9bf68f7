// Whether an element has come near the part of its column that is seen.
import { flushSync } from 'svelte';

/** About a screen and a half: a reader who scrolls finds things drawn. */
const MARGIN = '1200px 0px';

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

function arrived(entries: IntersectionObserverEntry[], observer: IntersectionObserver): void {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    call(target);
  }
}

function call(element: Element): void {
  const then = waiting.get(element);
  waiting.delete(element);
  then?.();
}

// On paper everything is near. What is drawn then may wait for more to be.
addEventListener('beforeprint', () => {
  for (let rounds = 0; waiting.size > 0 && rounds < 3; rounds += 1) {
    for (const element of [...waiting.keys()]) call(element);
    flushSync();
  }
});
