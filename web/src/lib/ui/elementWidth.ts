// The width of an element as the browser reports it after layout. Reading it at once, as a binding
// does, would lay out the whole page once for each element that is drawn.

const listeners = new WeakMap<Element, (width: number) => void>();
let observer: ResizeObserver | undefined;

/** An attachment that tells the inner width, now and whenever it changes. */
export function elementWidth(changed: (width: number) => void): (element: Element) => () => void {
  return (element) => {
    if (typeof ResizeObserver === 'undefined') return () => {};
    observer ??= new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) listeners.get(target)?.(contentRect.width);
    });
    listeners.set(element, changed);
    observer.observe(element);
    return () => {
      observer?.unobserve(element);
      listeners.delete(element);
    };
  };
}
