/** Enough to know a chat by. */
const MAX_TITLE_LENGTH = 48;

/** A title short enough to be named in a sentence. */
export function truncateTitle(title: string): string {
  const letters = [...title];
  return letters.length <= MAX_TITLE_LENGTH
    ? title
    : `${letters
        .slice(0, MAX_TITLE_LENGTH - 1)
        .join('')
        .trimEnd()}…`;
}
