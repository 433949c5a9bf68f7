// What a page can find out about an address. Every failure of `fetch` looks the same
// to it; these are the four things that tell one from another.
import { TimeoutError } from './timeouts';

/** What came of asking. */
export type FetchResult =
  | { how: 'answer'; response: Response }
  | { how: 'timeout' }
  /** Somebody else did, to whom it was sent on. */
  | { how: 'elsewhere' }
  /** Whatever it was, the browser does not say. */
  | { how: 'error' };

/** Fails only when aborted for another reason than a timeout. */
export async function tryFetch(
  url: string,
  init: RequestInit & { signal: AbortSignal },
): Promise<FetchResult> {
  try {
    const response = await fetch(url, {
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      ...init,
    });
    if (!isCrossOriginRedirect(url, response)) return { how: 'answer', response };
    cancelBody(response);
    return { how: 'elsewhere' };
  } catch (error) {
    if (init.signal.reason instanceof TimeoutError) return { how: 'timeout' };
    if (init.signal.aborted) throw error;
    return { how: 'error' };
  }
}

/** Whether a redirect led to another origin. Opaque responses do not say. */
export function isCrossOriginRedirect(asked: string, { url }: Response): boolean {
  return url !== '' && new URL(url).origin !== new URL(asked).origin;
}

export type Answers = 'yes' | 'no' | 'timeout';

/** Whether any HTTP server answers there, readable or not. */
export async function answers(url: string, signal: AbortSignal): Promise<Answers> {
  const attempt = await tryFetch(url, { mode: 'no-cors', signal });
  if (attempt.how === 'answer') {
    cancelBody(attempt.response);
    return 'yes';
  }
  return attempt.how === 'timeout' ? 'timeout' : 'no';
}

export type Connects = 'yes' | 'never' | 'timeout';

/** How a connection to it fails: not at all on the network, or only after it. */
export function connects(url: string, signal: AbortSignal): Promise<Connects> {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    const end = (how: Connects) => {
      signal.removeEventListener('abort', late);
      source.close();
      resolve(how);
    };
    const late = () => end('timeout');
    if (signal.aborted) return late();
    signal.addEventListener('abort', late);
    source.onopen = () => end('yes');
    // In its first error it tells whether it would try again: it does so only where the
    // network was what failed.
    source.onerror = () => end(source.readyState === EventSource.CONNECTING ? 'never' : 'yes');
  });
}

/** Runs `work` and reports whether the page's CSP blocked requests to this address. */
export async function watchCspViolations<Result>(
  url: string,
  work: () => Promise<Result>,
): Promise<{ result: Result; forbidden: boolean }> {
  const { origin } = new URL(url);
  let forbidden = false;
  const onViolation = (event: SecurityPolicyViolationEvent) => {
    // Others are looked at meanwhile.
    if (event.effectiveDirective !== 'connect-src') return;
    if (`${event.blockedURI}/`.startsWith(`${origin}/`)) forbidden = true;
  };
  document.addEventListener('securitypolicyviolation', onViolation);
  try {
    const result = await work();
    // The violation event is dispatched in a task of its own.
    await new Promise((resolve) => setTimeout(resolve));
    return { result, forbidden };
  } finally {
    document.removeEventListener('securitypolicyviolation', onViolation);
  }
}

/** As text; undefined where it is longer than this. */
export async function textOf(response: Response, maxBytes: number): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > maxBytes) {
      void reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Nobody reads it: what is left unread holds a connection. */
export function cancelBody(response: Response): void {
  void response.body?.cancel().catch(() => {});
}
