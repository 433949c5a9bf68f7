// Tools that a model was not offered, as they are told of.
import type { LeftOut } from '$lib/api/types';
import type { Turn } from './chat';

export interface LeftOutLine {
  tools: readonly LeftOut[];
  why: string;
}

/** From so many on, tools with the same reason are counted and not named. */
const MANY = 4;

/** One line per tool, or one for many that share their reason. */
export function leftOutLines(tools: readonly LeftOut[]): LeftOutLine[] {
  const reasons = [...new Set(tools.map(({ why }) => why))];
  return reasons.flatMap((why) => {
    const same = tools.filter((tool) => tool.why === why);
    return same.length < MANY ? same.map((tool) => ({ tools: [tool], why })) : { tools: same, why };
  });
}

/** Whether it is news: what the turn before was not offered either was said there. */
export function leftOutNow(turn: Turn, before: Turn | undefined): readonly LeftOut[] {
  const { leftOut = [] } = turn;
  return textOf(leftOut) === textOf(before?.leftOut ?? []) ? [] : leftOut;
}

function textOf(tools: readonly LeftOut[]): string {
  return JSON.stringify(tools.map(({ toolId, why }) => `${toolId} ${why}`).sort());
}
