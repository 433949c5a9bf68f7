import type { Component } from 'svelte';
import type { SnippetPiece } from '$lib/api/types';

export interface Command {
  id: string;
  icon: Component<{ size?: number | string }>;
  label: string;
  /** Further words to find it by. */
  keywords?: string;
  /** One of very many: listed only when it is looked for. */
  rare?: boolean;
  /** What was found there, for what a search brought. */
  snippet?: readonly SnippetPiece[];
  /** What it is, in a word or two, or the keys that do the same. */
  note?: string;
  /** The one that is in force already. */
  current?: boolean;
  run(): void;
}

/** More than anybody reads: who does not find it types another word. */
const MAX_FOUND = 100;

/** Commands that hold every word of the search, in any order: by their label first, then by their
    keywords. */
export function findCommands(commands: readonly Command[], search: string): Command[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands.filter(({ rare }) => !rare).slice(0, MAX_FOUND);
  const holds = (text: string) => words.every((word) => text.includes(word));
  const byLabel: Command[] = [];
  const byKeywords: Command[] = [];
  for (const command of commands) {
    const label = command.label.toLowerCase();
    if (holds(label)) byLabel.push(command);
    else if (command.keywords && holds(`${label} ${command.keywords.toLowerCase()}`)) {
      byKeywords.push(command);
    }
  }
  return [...byLabel, ...byKeywords].slice(0, MAX_FOUND);
}
