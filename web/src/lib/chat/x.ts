// How much the model will be given with the next message: what the server counts, and an estimate of
// what is being written.
import { instructions } from '$lib/api/instructions';
import type { ContextQuery, ContextView, AttachedFile } from '$lib/api/types';
import { ResponseOrder } from '$lib/responseOrder';
import { estimateTokens } from './tokenEstimate';

/** What it depends on often changes together: a chat is opened with its model and its tools. */
const DEBOUNCE_MS = 500;
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

export class ContextSize {
  view = $state.raw<ContextView>();
  #order = new ResponseOrder();
  #timer?: ReturnType<typeof setTimeout>;
  #asked?: string;

  /** Asks again, once whatever changes has changed. */
  refreshSoon(ask: ContextQuery): void {
    clearTimeout(this.#timer);
    // What was counted for another chat says nothing about this one.
    if (ask.chatId !== this.#asked) this.view = undefined;
    this.#asked = ask.chatId;
    this.#timer = setTimeout(() => void this.#read(ask), DEBOUNCE_MS);
  }

  async #read(ask: ContextQuery): Promise<void> {
    const isNewest = this.#order.send();
    // Nothing depends on it: where it cannot be had it is not shown.
    const view = await instructions.context(ask).catch(() => undefined);
    if (isNewest()) this.view = view;
  }
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
