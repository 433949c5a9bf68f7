/** There may be no field, a hidden page draws nothing, and a busy one is never idle. */
const TIMEOUT_MS = 2_000;

let resolveInteractive = () => {};
const interactive = new Promise<void>((resolve) => (resolveInteractive = resolve));

/** Called by whoever shows the field that people come for. */
export function markInteractive(): void {
  resolveInteractive();
}

/** For work that nobody waits for: resolves once people can write and the browser has nothing else
    to do, and in time though that never happens. */
export async function whenIdle(): Promise<void> {
  await Promise.race([interactive.then(nextFrame), wait(TIMEOUT_MS)]);
  // Not in Safari.
  if ('requestIdleCallback' in window) {
    const options = { timeout: TIMEOUT_MS };
    await new Promise((resolve) => window.requestIdleCallback(resolve, options));
  }
}

/** Resolves when what there is has been drawn. */
async function nextFrame(): Promise<void> {
  await new Promise(requestAnimationFrame);
  await wait(0);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
