import type { SourceView, ToolView } from '$lib/api/types';

/** Tools under the sources they come from, both in the order the server gave. */
export function groupBySource(
  tools: readonly ToolView[],
  filter: string,
): { source: SourceView; tools: ToolView[] }[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, { source: SourceView; tools: ToolView[] }>();
  for (const tool of tools) {
    const text = `${tool.displayName} ${tool.toolId} ${tool.description}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const group = groups.get(tool.source.id);
    if (group) group.tools.push(tool);
    else groups.set(tool.source.id, { source: tool.source, tools: [tool] });
  }
  return [...groups.values()];
}
