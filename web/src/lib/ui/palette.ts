import type { Component } from 'svelte';
import type { SnippetPiece } from '$lib/api/types';

export interface Command {
  id: string;
  icon: Component<{ size?: number | string }>;
  label: string;
  /** What was found there, for what a search brought. */
  snippet?: readonly SnippetPiece[];
  /** What it is, in a word or two. */
  note?: string;
  /** The one that is in force already. */
  current?: boolean;
  run(): void;
}

/** Commands that hold every word of the search, in any order. */
export function findCommands(commands: readonly Command[], search: string): Command[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ label }) => {
    const text = label.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
