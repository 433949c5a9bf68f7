// Why the model does not get tools that there are, in groups.
import type { ModelContext } from '$lib/api/modelContext';
import type { OmittedTool, Pattern, ToolId, ToolView } from '$lib/api/types';
import { matchesAny } from '$lib/experts/toolPattern';
import { canBeCalled } from './callable';

export interface LeftOutTools {
  /** Switched off, or never allowed. */
  off: number;
  /** Their source is away. */
  away: number;
  /** Not among those of the expert. */
  byExpert: number;
  /** On, and not offered all the same: the server says why. */
  omitted: OmittedTool[];
}

/** `patterns` are those of an expert that the server has not applied yet. */
export function leftOutTools(
  tools: readonly ToolView[],
  patterns: readonly Pattern[] | undefined,
  context: ModelContext | undefined,
): LeftOutTools {
  const names = new Map<ToolId, string>();
  const counts = { off: 0, away: 0, byExpert: 0 };
  for (const tool of tools) {
    names.set(tool.toolId, tool.displayName);
    if (!tool.enabled || tool.policy === 'deny') counts.off += 1;
    else if (!canBeCalled(tool.source)) counts.away += 1;
    else if (patterns && !matchesAny(patterns, tool.toolId)) counts.byExpert += 1;
  }
  const omitted = (context?.leftOut ?? []).map(({ toolId, why }) => ({
    toolId,
    displayName: names.get(toolId) ?? toolId,
    why,
  }));
  return { ...counts, omitted };
}
