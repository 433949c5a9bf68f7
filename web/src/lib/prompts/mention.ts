// Which tools and experts an `@` in a message can mean.
import type { ExpertId, ExpertView, ToolId, ToolView } from '$lib/api/types';
import { expertTitle } from '$lib/experts/expert';

export type Mention =
  | { kind: 'expert'; key: ExpertId; title: string; expert: ExpertView }
  | { kind: 'tool'; key: ToolId; title: string; tool: ToolView };

/** More than are read at a glance. */
const MAX_SHOWN = 50;

/** What fits, best first: how it begins, then where it occurs. */
export function matchMentions(
  query: string,
  experts: readonly ExpertView[],
  tools: readonly ToolView[],
): Mention[] {
  const words = query.toLowerCase();
  /** By the words of its names, and not by its id: those of a source begin alike. */
  const rank = (...names: string[]) => {
    const text = names.join(' ').toLowerCase();
    if (names[0]?.toLowerCase().startsWith(words)) return 0;
    if (text.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(words))) return 1;
    return text.includes(words) ? 2 : 3;
  };
  const all: { mention: Mention; rank: number }[] = [
    ...experts.map((expert) => {
      const title = expertTitle(expert);
      const mention: Mention = { kind: 'expert', key: expert.id, title, expert };
      return { mention, rank: rank(title, expert.name) };
    }),
    ...tools.map((tool) => {
      const title = tool.displayName;
      const mention: Mention = { kind: 'tool', key: tool.toolId, title, tool };
      return { mention, rank: rank(tool.title || tool.toolName, title, tool.toolName) };
    }),
  ];
  return all
    .filter(({ rank }) => rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .map(({ mention }) => mention)
    .slice(0, MAX_SHOWN);
}
