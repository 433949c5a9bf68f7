// Where a call would go, as far as its input says so.

export interface Address {
  /** What decides whom it reaches. */
  host: string;
  /** Path and query, which the request would reveal. */
  rest: string;
}

/** The web address in a call's input, as the server would read it. */
export function addressIn(input: unknown): Address | undefined {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return undefined;
  for (const value of Object.values(input)) {
    if (typeof value !== 'string' || !/^\s*https?:\/\//i.test(value)) continue;
    const url = parse(value);
    if (url) return { host: url.host, rest: url.pathname + url.search };
  }
  return undefined;
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
