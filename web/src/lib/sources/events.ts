// Change events of sources: the socket receives them, and the views that show sources subscribe.
import type { SourceNews } from '$lib/api/types';

/** Without details after a reconnect, when anything may have changed. */
type Listener = (news?: SourceNews) => void;

const listeners = new Set<Listener>();

/** Returns a function that unsubscribes. */
export function onSourcesChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function emitSourcesChange(news?: SourceNews): void {
  for (const listener of listeners) listener(news);
}
