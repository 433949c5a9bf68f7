// A context by which an answer and its cards open the trace of their turn.
import { getContext, setContext } from 'svelte';
import type { CallId, TurnId } from '$lib/api/types';

/** A turn, or one call in it. */
export interface TraceTarget {
  turnId: TurnId;
  callId?: CallId;
}

export type TraceOpener = (target: { turnId?: TurnId; callId?: CallId }) => void;

const CONTEXT_KEY = Symbol('trace opener');

export function setTraceOpener(open: TraceOpener): void {
  setContext(CONTEXT_KEY, open);
}

/** Absent where there is nothing to look into, as in a shared chat. */
export function getTraceOpener(): TraceOpener | undefined {
  return getContext<TraceOpener | undefined>(CONTEXT_KEY);
}
