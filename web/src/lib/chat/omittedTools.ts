// Tools that were not offered to a model, grouped for display.
import { errorKey } from '$lib/api/errorKey';
import type { ErrorDetail, OmittedTool } from '$lib/api/types';
import type { Turn } from './chat';

export interface OmittedToolLine {
  tools: readonly OmittedTool[];
  why: ErrorDetail;
}

/** From this number on, tools with the same reason are counted instead of named. */
const COUNT_FROM = 4;

/** One line per tool, or one for many that share their reason. */
export function omittedToolLines(tools: readonly OmittedTool[]): OmittedToolLine[] {
  const reasons = new Map(tools.map(({ why }) => [errorKey(why), why]));
  return [...reasons].flatMap(([key, why]) => {
    const same = tools.filter((tool) => errorKey(tool.why) === key);
    return same.length < COUNT_FROM
      ? same.map((tool) => ({ tools: [tool], why }))
      : { tools: same, why };
  });
}

/** Only what differs from the turn before, which has already shown the rest. */
export function newlyOmittedTools(turn: Turn, before: Turn | undefined): readonly OmittedTool[] {
  const { leftOut = [] } = turn;
  return keyOf(leftOut) === keyOf(before?.leftOut ?? []) ? [] : leftOut;
}

function keyOf(tools: readonly OmittedTool[]): string {
  return JSON.stringify(tools.map(({ toolId, why }) => `${toolId} ${errorKey(why)}`).sort());
}
