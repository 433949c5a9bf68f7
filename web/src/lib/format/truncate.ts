/** Enough to know a chat by. */
const MAX_TITLE_LENGTH = 48;

/** The text, or so much of it that it has this length with an ellipsis. Cut between characters. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const letters = [...text];
  return letters.length <= maxLength
    ? text
    : `${letters
        .slice(0, maxLength - 1)
        .join('')
        .trimEnd()}…`;
}

/** A title short enough to be named in a sentence. */
export function truncateTitle(title: string): string {
  return truncate(title, MAX_TITLE_LENGTH);
}
