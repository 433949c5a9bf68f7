// Where the tools of a chat run, for whoever shows a call: the record of it says only
// whether that was the server.
import { getContext, setContext } from 'svelte';
import type { LocalView, ToolId } from '$lib/api/types';

const KEY = Symbol('whereabouts');

export type Whereabouts = (toolId: ToolId) => LocalView | undefined;

export function tellWhereabouts(whereabouts: Whereabouts): void {
  setContext(KEY, whereabouts);
}

/** Nothing is known where nobody told it, as in a chat that somebody shares. */
export function whereabouts(): Whereabouts {
  return getContext<Whereabouts | undefined>(KEY) ?? (() => undefined);
}
