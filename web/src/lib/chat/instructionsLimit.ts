/** The server takes no longer instructions: every message pays for them. */
export const MAX_INSTRUCTIONS_CHARS = 8_000;

export function isTooLong(instructions: string): boolean {
  return [...instructions].length > MAX_INSTRUCTIONS_CHARS;
}
