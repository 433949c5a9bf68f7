// The server's clock, as far as this page can know it. Events carry the server's
// time; a running call is timed by it, and the clocks of two computers differ.

let ahead: number | undefined;

/** A live event says what time it is there. The one that came fastest says it best. */
export function heardAt(serverTime: number): void {
  ahead = Math.min(ahead ?? Infinity, Date.now() - serverTime);
}

export function serverNow(): number {
  return Date.now() - (ahead ?? 0);
}
