// A context that tells components where a tool runs: the record of a call says only whether it
// was the server.
import { getContext, setContext } from 'svelte';
import type { LocalView, ToolId } from '$lib/api/types';

const CONTEXT_KEY = Symbol('tool location');

export type ToolLocator = (toolId: ToolId) => LocalView | undefined;

export function setToolLocator(getToolLocator: ToolLocator): void {
  setContext(CONTEXT_KEY, getToolLocator);
}

/** Unknown where no locator was set, as in a shared chat. */
export function getToolLocator(): ToolLocator {
  return getContext<ToolLocator | undefined>(CONTEXT_KEY) ?? (() => undefined);
}
