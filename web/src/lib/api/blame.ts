/** Which field a sentence of the server is about: the first that it quotes. Each is given with what
    the server may call it; a long one is quoted by its beginning. */
export function blamed<Field>(
  sentence: string,
  fields: readonly { field: Field; called: readonly string[] }[],
): Field | undefined {
  const quoted = [...sentence.matchAll(/`([^`]+)`|“([^”]+)”/g)].map(
    ([, code, words]) => code ?? words ?? '',
  );
  for (const text of quoted) {
    const isIt = (name: string) =>
      name === text ||
      text.startsWith(`${name}.`) ||
      (text.endsWith('…') && name.startsWith(text.slice(0, -1)));
    const found = fields.find(({ called }) => called.some(isIt));
    if (found) return found.field;
  }
  return undefined;
}
