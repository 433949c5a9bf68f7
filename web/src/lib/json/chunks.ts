// Long text in pieces that are laid out one by one, so that a page is never stopped by one.

export const CHUNK_CHARS = 40_000;

/** The first pieces of a text, each ending with its line where lines are not too long. */
export function textChunks(text: string, count: number): { chunks: string[]; rest: number } {
  const chunks: string[] = [];
  let from = 0;
  while (from < text.length && chunks.length < count) {
    const to = chunkEnd(text, from);
    chunks.push(text.slice(from, to));
    from = to;
  }
  return { chunks, rest: text.length - from };
}

function chunkEnd(text: string, from: number): number {
  const limit = from + CHUNK_CHARS;
  if (limit >= text.length) return text.length;
  const line = text.lastIndexOf('\n', limit - 1);
  if (line > from) return line + 1;
  // Not between the halves of a character.
  return /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
}
