// The `/` command at the beginning of a message: what is looked for, and what fits it.
import type { PromptView, ServerPromptView, SkillView, ToolId } from '$lib/api/types';

export type SlashCommand =
  | { kind: 'saved'; key: string; command: string; title: string; prompt: PromptView }
  | { kind: 'server'; key: string; command: string; title: string; prompt: ServerPromptView }
  | { kind: 'skill'; key: string; command: string; title: string; toolId: ToolId };

/** More than are read at a glance. */
const MAX_SHOWN = 50;

/** What was typed after the slash, while it can still be a command. */
export function slashQuery(text: string): string | undefined {
  const found = /^\/(\S*)$/u.exec(text);
  return found?.[1];
}

/** What fits, best first: how it begins, then where it occurs. */
export function matchCommands(
  query: string,
  saved: readonly PromptView[],
  offered: readonly ServerPromptView[],
  skills: readonly SkillView[],
): SlashCommand[] {
  const words = query.toLowerCase();
  const all = [
    ...saved.map(savedCommand),
    ...skills.flatMap(skillCommand),
    ...offered.map(serverCommand),
  ];
  const rank = ({ command, title }: SlashCommand) => {
    if (command.toLowerCase().startsWith(words)) return 0;
    return `${command} ${title}`.toLowerCase().includes(words) ? 1 : 2;
  };
  return all
    .map((command) => ({ command, rank: rank(command) }))
    .filter(({ rank }) => rank < 2)
    .sort((a, b) => a.rank - b.rank)
    .map(({ command }) => command)
    .slice(0, MAX_SHOWN);
}

function savedCommand(prompt: PromptView): SlashCommand {
  const { id, command, title, text } = prompt;
  return { kind: 'saved', key: id, command, title: title || text, prompt };
}

/** One without instructions has nothing that a model could be told to follow. */
function skillCommand({ id, name, title, enabled, useToolId }: SkillView): SlashCommand[] {
  if (!enabled || useToolId === undefined) return [];
  return [{ kind: 'skill', key: id, command: name, title: title || name, toolId: useToolId }];
}

function serverCommand(prompt: ServerPromptView): SlashCommand {
  const { name, title, description } = prompt;
  return {
    kind: 'server',
    key: name,
    command: name,
    title: [title, description].filter(Boolean).join(': '),
    prompt,
  };
}
