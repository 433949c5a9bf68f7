import type { SourceView, ToolId, ToolView } from '$lib/api/types';
import { isOn } from './callable';

/** All that there are, or those that are on. */
export type ToolFilter = 'all' | 'on';

export interface ToolSourceGroup {
  source: SourceView;
  tools: ToolView[];
}

/** Tools under the sources they come from, both in the order the server gave. Those that are
    away come last. */
export function groupBySource(tools: readonly ToolView[], filter: string): ToolSourceGroup[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, ToolSourceGroup>();
  for (const tool of tools) {
    const texts = [tool.displayName, tool.toolId, tool.description, tool.keywords ?? ''];
    const text = texts.join(' ').toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const group = groups.get(tool.source.id);
    if (group) group.tools.push(tool);
    else groups.set(tool.source.id, { source: tool.source, tools: [tool] });
  }
  const isAway = ({ source }: ToolSourceGroup) => Number(source.state === 'offline');
  return [...groups.values()].sort((a, b) => isAway(a) - isAway(b));
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
