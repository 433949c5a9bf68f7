/** Enough to know a chat by. */
const MOST = 48;

/** A title short enough to be named in a sentence. */
export function cut(title: string): string {
  const letters = [...title];
  return letters.length <= MOST
    ? title
    : `${letters
        .slice(0, MOST - 1)
        .join('')
        .trimEnd()}…`;
}
