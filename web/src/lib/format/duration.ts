/**
 * "< 1 ms", "12 ms", "0.4 s", "38 s", "2 min 5 s": as exact as it is worth reading.
 * The symbols are the same in every language the page speaks.
 */
export function formatDuration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
