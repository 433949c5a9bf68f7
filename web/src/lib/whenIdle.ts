/** On a busy page idle time may never come. */
const IDLE_TIMEOUT_MS = 2_000;

/** For work that nobody waits for: resolves once the browser has nothing else to do, and in time
    though it has. Browsers that do not say so are given time to draw what they are at. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    const options = { timeout: IDLE_TIMEOUT_MS };
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve(), options);
    else setTimeout(resolve);
  });
}
