// How much the model will be given with the next message: what the server counts, and an estimate
// of what is being written.
import type { ContextView, AttachedFile } from '$lib/api/types';
import { estimateTokens } from './tokenEstimate';

/** An image costs about this much, whatever the model. */
const IMAGE_TOKENS = 1_000;
/** From here on a reader is warned. */
const WARN_SHARE = 0.8;

export interface TokenEstimate {
  total: number;
  /** As the parts of the total. */
  system: number;
  tools: number;
  history: number;
  draft: number;
  /** How much the model reads at most, where that is known. */
  limit?: number;
  state: 'fine' | 'near' | 'over';
}

export function estimateContext(
  view: ContextView | undefined,
  text: string,
  files: readonly AttachedFile[],
): TokenEstimate | undefined {
  if (!view) return undefined;
  const { contextTokens: limit, systemTokens, toolTokens, historyTokens } = view;
  const draft = estimateTokens(text) + files.reduce((sum, file) => sum + fileTokens(file), 0);
  const total = systemTokens + toolTokens + historyTokens + draft;
  const share = limit ? total / limit : 0;
  const state = share > 1 ? 'over' : share > WARN_SHARE ? 'near' : 'fine';
  return {
    ...{ total, draft, limit, state },
    ...{ system: systemTokens, tools: toolTokens, history: historyTokens },
  };
}

function fileTokens({ kind, textChars = 0 }: AttachedFile): number {
  return kind === 'image' ? IMAGE_TOKENS : Math.ceil(textChars / 4);
}
