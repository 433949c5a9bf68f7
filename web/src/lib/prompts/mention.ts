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
  const rank = (title: string, more: string) => {
    if (title.toLowerCase().startsWith(words)) return 0;
    return `${title} ${more}`.toLowerCase().includes(words) ? 1 : 2;
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
      return { mention, rank: rank(tool.title || tool.toolName, `${title} ${tool.toolId}`) };
    }),
  ];
  return all
    .filter(({ rank }) => rank < 2)
    .sort((a, b) => a.rank - b.rank)
    .map(({ mention }) => mention)
    .slice(0, MAX_SHOWN);
}
