// Which ports of this machine have a tool server.
import { isLoopback } from './address';
import { barred } from './diagnose';
import { discover, type Finding, type Looking } from './discover';
import { limited } from './patience';
import { isAsking, isGated, permissionFor } from './permission';
import { answers, connects } from './probe';

/** Somebody listens there. */
export interface Seen {
  url: string;
  finding: Finding;
  /** It was looked at already. */
  known: boolean;
}

const AT_ONCE = 8;
/** Somebody who listens on this machine answers at once. */
const LISTENS_MS = 1_500;
const WHOLE_MS = 10_000;

/** Those where somebody listens, in the order they are found. */
export async function* scan(
  urls: readonly string[],
  known: ReadonlySet<string>,
  looking: Looking,
): AsyncGenerator<Seen> {
  const waiting = urls.filter((url) => !isThisPage(new URL(url)));
  const asking = waiting[0] !== undefined && (await isAsking(new URL(waiting[0])));
  const signal = limited(WHOLE_MS, { asking, signal: looking.signal });
  // A question that is closed counts: all have to be in it.
  const atOnce = asking ? waiting.length : AT_ONCE;
  const running = new Map<string, Promise<{ url: string; finding?: Finding }>>();
  const begin = () => {
    while (running.size < atOnce) {
      const url = waiting.shift();
      if (url === undefined) return;
      running.set(url, at(url, asking, { ...looking, signal }));
    }
  };
  for (begin(); running.size > 0; begin()) {
    const { url, finding } = await Promise.race(running.values());
    running.delete(url);
    if (finding) yield { url, finding, known: known.has(url) };
  }
}

async function at(
  url: string,
  asking: boolean,
  looking: Looking,
): Promise<{ url: string; finding?: Finding }> {
  const target = new URL(url);
  const signal = limited(LISTENS_MS, { asking, signal: looking.signal });
  try {
    const [answered, connected] = await Promise.all([
      answers(url, signal),
      isGated(target) ? connects(url, signal) : 'never',
    ]);
    if (answered === 'yes') {
      return { url, finding: await discover({ url, kind: 'auto', headers: {} }, looking) };
    }
    if (connected !== 'yes') return { url };
    const trouble = barred(await permissionFor(target));
    return trouble.kind === 'notHttp' ? { url } : { url, finding: { servers: [], trouble } };
  } catch {
    // The whole took too long, or nobody wants it any more.
    return { url };
  }
}

/** This machine has several names. */
function isThisPage({ hostname, port, protocol }: URL): boolean {
  const isHere = hostname === location.hostname || [hostname, location.hostname].every(isLoopback);
  return isHere && port === location.port && protocol === location.protocol;
}
