// The `@` in a message: what is looked for.

/** What was typed after the `@` that the caret is behind; the `@` begins a word. */
export function mentionQuery(text: string, caret: number): string | undefined {
  return /(?:^|\s)@([^\s@]*)$/u.exec(text.slice(0, caret))?.[1];
}

/** The text without the `@` and what was typed after it, and where the caret is then. */
export function withoutMention(text: string, caret: number): { text: string; caret: number } {
  const query = mentionQuery(text, caret);
  if (query === undefined) return { text, caret };
  const start = caret - query.length - 1;
  return { text: text.slice(0, start) + text.slice(caret), caret: start };
}
