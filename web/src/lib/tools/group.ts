import type { SourceId, SourceView, ToolId, ToolView } from '$lib/api/types';
import { isOn } from './callable';

/** All that there are, or those that are on. */
export type ToolFilter = 'all' | 'on';

export interface ToolSourceGroup {
  source: SourceView;
  /** Those that are shown. */
  tools: ToolView[];
  /** All that it has. */
  all: readonly ToolView[];
}

/** A tool stays the same object while it stays as it is, so this is worked out once. */
const searchTexts = new WeakMap<ToolView, string>();

function searchText(tool: ToolView): string {
  let text = searchTexts.get(tool);
  if (text === undefined) {
    const { displayName, toolId, description, keywords = '' } = tool;
    text = [displayName, toolId, description, keywords].join(' ').toLowerCase();
    searchTexts.set(tool, text);
  }
  return text;
}

/** Those with all of these words in their names, ids, descriptions or keywords. */
export function matchingTools(tools: readonly ToolView[], filter: string): readonly ToolView[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return tools;
  return tools.filter((tool) => words.every((word) => searchText(tool).includes(word)));
}

export function bySource(tools: readonly ToolView[]): Map<SourceId, ToolView[]> {
  const sources = new Map<SourceId, ToolView[]>();
  for (const tool of tools) {
    const known = sources.get(tool.source.id);
    if (known) known.push(tool);
    else sources.set(tool.source.id, [tool]);
  }
  return sources;
}

/** Tools under the sources they come from, both in the order the server gave. Those that are
    away come last. `all` has what the sources have besides. */
export function groupBySource(
  tools: readonly ToolView[],
  all: ReadonlyMap<SourceId, readonly ToolView[]> = bySource(tools),
): ToolSourceGroup[] {
  const groups = [...bySource(tools)].flatMap(([id, shown]) =>
    shown[0] ? { source: shown[0].source, tools: shown, all: all.get(id) ?? shown } : [],
  );
  const isAway = ({ source }: ToolSourceGroup) => Number(source.state === 'offline');
  return groups.sort((a, b) => isAway(a) - isAway(b));
}

/** What a view shows. `kept` were just switched off in it: they stay where they are, so that
    nothing moves under the hand. */
export function visibleTools(
  view: ToolFilter,
  tools: readonly ToolView[],
  kept: ReadonlySet<ToolId>,
): readonly ToolView[] {
  return view === 'all' ? tools : tools.filter((tool) => isOn(tool) || kept.has(tool.toolId));
}
