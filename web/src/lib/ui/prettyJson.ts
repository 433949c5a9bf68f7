/** JSON as it is read, on one line while it is short; text as it is. */
export function prettyJson(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    const line = JSON.stringify(value) ?? '';
    if (line.length > 60) return JSON.stringify(value, null, 2);
    return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  } catch {
    // Nested deeper than the stack reaches.
    return '…';
  }
}
