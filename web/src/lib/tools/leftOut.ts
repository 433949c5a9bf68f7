// Why the model does not get tools that there are, in groups.
import type { ContextView, OmittedTool, Pattern, ToolView } from '$lib/api/types';
import { matchesAny } from '$lib/experts/toolPattern';
import { canBeCalled } from './callable';
import { countElsewhere, settledTools } from './otherComputers';

export interface LeftOutTools {
  /** Switched off, or never allowed. */
  off: number;
  /** Their source is away. */
  away: number;
  /** Not among those of the expert. */
  byExpert: number;
  /** Such as those that page through a long output: offered once there is one. */
  whenNeeded: number;
  /** On another computer than the one in use. */
  elsewhere: number;
  /** The model finds them itself: all together they are too many for it. */
  bySearch: number;
  /** On, and not offered all the same: the server says why. */
  omitted: OmittedTool[];
}

/** `patterns` are those of an expert that the server has not applied yet. */
export function leftOutTools(
  tools: readonly ToolView[],
  patterns: readonly Pattern[] | undefined,
  context: Pick<ContextView, 'tools' | 'leftOut' | 'deferred'> | undefined,
): LeftOutTools {
  const counts = { off: 0, away: 0, byExpert: 0 };
  const callable: ToolView[] = [];
  for (const tool of tools) {
    if (!tool.enabled || tool.policy === 'deny') counts.off += 1;
    else if (!canBeCalled(tool.source)) counts.away += 1;
    else if (patterns && !matchesAny(patterns, tool.toolId)) counts.byExpert += 1;
    else callable.push(tool);
  }
  const settled = settledTools(context);
  const elsewhere = countElsewhere(callable, settled);
  const unsettled = callable.filter(({ toolId }) => !settled.has(toolId)).length - elsewhere;
  const rest = settled.size > 0 ? unsettled : 0;
  const isSearching = context !== undefined && context.deferred > 0;
  return {
    ...counts,
    elsewhere,
    whenNeeded: isSearching ? 0 : rest,
    bySearch: isSearching ? rest : 0,
    omitted: context?.leftOut ?? [],
  };
}
