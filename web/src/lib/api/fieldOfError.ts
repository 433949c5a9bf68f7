/** The form field that a server error is about: the first one that it quotes. Each field comes with
    the names the server may use; long ones are quoted by their beginning. */
export function fieldOfError<Field>(
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
