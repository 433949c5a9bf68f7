// The words of built-in tools. The server has them in English, for models; the page shows them in
// its own language.
import type { ToolView } from '$lib/api/types';

interface ToolText {
  title: string;
  description: string;
}

export interface BuiltinTexts {
  /** By the name of the source, without `builtin:`. */
  sources: Partial<Record<string, string>>;
  /** By the id of the tool. */
  tools: Partial<Record<string, ToolText>>;
}

/** In English, what the server says stands. */
export const noBuiltinTexts: BuiltinTexts = { sources: {}, tools: {} };

/** A tool as the page shows it. One of somebody else's server keeps its own words. */
export function localizedTool(tool: ToolView, { sources, tools }: BuiltinTexts): ToolView {
  const source = tool.source.kind === 'builtin' ? sources[tool.source.name] : undefined;
  const text = tools[tool.toolId];
  if (!source || !text) return tool;
  const displayName = `${source}/${text.title}`;
  // What it is called in English is still a way to find it.
  const keywords = [tool.keywords, tool.displayName].filter(Boolean).join(' ');
  return { ...tool, ...text, displayName, keywords, source: { ...tool.source, title: source } };
}

/** What a source is called. Only those of Tenon itself have an id that begins so. */
export function localizedSourceTitle(
  sourceId: string,
  title: string,
  { sources }: BuiltinTexts,
): string {
  const [kind, name = ''] = sourceId.split(':');
  return (kind === 'builtin' && sources[name]) || title;
}

/** What a call shows as the name of its tool. */
export function localizedName(
  toolId: string,
  displayName: string,
  { sources, tools }: BuiltinTexts,
): string {
  const title = tools[toolId]?.title;
  const [before = ''] = displayName.split('/');
  const source = sources[before.toLowerCase()];
  return title && source ? `${source}/${title}` : displayName;
}
