/** Runs `work` once for all calls within `ms` of the first: a steady stream of calls never
    postpones it. */
export function coalesce(ms: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, ms);
  };
}
