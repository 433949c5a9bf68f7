// Reading something again until it worked, for a page that polls nothing.

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;
const MAX_TRIES = 6;

/**
 * Reads once, and again later where that failed. Comes back after the first try and never fails:
 * after the last one, whoever reconnects reads again.
 */
export async function retrying(
  read: () => Promise<unknown>,
  wait = FIRST_WAIT_MS,
  tries = MAX_TRIES,
): Promise<void> {
  try {
    await read();
  } catch {
    if (tries > 1) {
      const next = Math.min(wait * 2, LONGEST_WAIT_MS);
      setTimeout(() => void retrying(read, next, tries - 1), wait);
    }
  }
}
