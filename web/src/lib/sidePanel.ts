// What is shown beside a chat: the trace of a turn, or an artifact.
import type { ArtifactSource } from './artifacts/artifact';
import { setArtifactOpener } from './artifacts/opener';
import type { Turn } from './chat/chat';
import { setTraceOpener, type TraceTarget } from './trace/opener';

export interface SidePanelTarget {
  trace?: TraceTarget;
  artifact?: ArtifactSource;
  /** Of the chat that it was opened from, as it goes on. */
  turns: () => readonly Turn[];
}

/** Lets the answers and cards of a chat open a panel beside it. */
export function setSidePanelOpeners(
  turns: () => readonly Turn[],
  open: (panel: SidePanelTarget) => void,
): void {
  setTraceOpener(({ turnId, callId }) => {
    // A card knows its call, and the call is in one of the turns on show.
    const isIt = (turn: Turn) => turn.id === turnId || (callId && callId in turn.calls);
    const turn = turns().find(isIt);
    if (turn) open({ trace: { turnId: turn.id, callId }, turns });
  });
  setArtifactOpener((artifact) => open({ artifact, turns }));
}
