// Tells whoever shows sources that one has changed. The socket hears of it, wherever the page is.
import type { SourceNews } from '$lib/api/types';

/** Nothing in particular: after an absence anything may have changed. */
type Listener = (news?: SourceNews) => void;

const listeners = new Set<Listener>();

/** Until the function it returns is called. */
export function whenSourcesChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function tellOfSources(news?: SourceNews): void {
  for (const listener of listeners) listener(news);
}
