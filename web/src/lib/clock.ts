// Estimates the server's clock. Events carry the server's time; running calls are timed by it,
// because the clocks of two computers differ.

let ahead: number | undefined;

/** Updates the estimate from a live event. The smallest offset seen has the least network delay. */
export function syncServerClock(serverTime: number): void {
  ahead = Math.min(ahead ?? Infinity, Date.now() - serverTime);
}

export function serverNow(): number {
  return Date.now() - (ahead ?? 0);
}
