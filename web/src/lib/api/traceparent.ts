/** Where a trace begins that the server goes on with, as W3C Trace Context writes it: a new trace,
    a span of this page, sampled. `crypto.randomUUID` would do for neither: some of its bits are not
    random. */
export function freshTraceparent(): string {
  const hex = (bytes: number) =>
    Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('');
  return `00-${hex(16)}-${hex(8)}-01`;
}
