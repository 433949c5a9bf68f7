// Scans ports of this machine for tool servers.
import { isLoopback } from './address';
import { permissionDiagnosis } from './diagnose';
import { discover, type DiscoverResult, type DiscoverOptions } from './discover';
import { timeoutSignal } from './timeouts';
import { willPrompt, isGated, permissionFor } from './permission';
import { answers, connects } from './probe';

/** A port where something listens. */
export interface ScanHit {
  url: string;
  finding: DiscoverResult;
  /** It is configured already. */
  known: boolean;
}

const MAX_PARALLEL = 8;
/** A local server answers well within this time. */
const LISTEN_TIMEOUT_MS = 1_500;
const SCAN_TIMEOUT_MS = 10_000;

/** Yields the ports where something listens, as they are found. */
export async function* scan(
  urls: readonly string[],
  known: ReadonlySet<string>,
  looking: DiscoverOptions,
): AsyncGenerator<ScanHit> {
  const waiting = urls.filter((url) => !isThisPage(new URL(url)));
  const asking = waiting[0] !== undefined && (await willPrompt(new URL(waiting[0])));
  const signal = timeoutSignal(SCAN_TIMEOUT_MS, { asking, signal: looking.signal });
  // A dismissed permission prompt counts against the site, so all ports share one prompt.
  const atOnce = asking ? waiting.length : MAX_PARALLEL;
  const running = new Map<string, Promise<{ url: string; finding?: DiscoverResult }>>();
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
  looking: DiscoverOptions,
): Promise<{ url: string; finding?: DiscoverResult }> {
  const target = new URL(url);
  const signal = timeoutSignal(LISTEN_TIMEOUT_MS, { asking, signal: looking.signal });
  try {
    const [answered, connected] = await Promise.all([
      answers(url, signal),
      isGated(target) ? connects(url, signal) : 'never',
    ]);
    if (answered === 'yes') {
      return { url, finding: await discover({ url, kind: 'auto', headers: {} }, looking) };
    }
    if (connected !== 'yes') return { url };
    const diagnosis = permissionDiagnosis(await permissionFor(target));
    return diagnosis.kind === 'notHttp' ? { url } : { url, finding: { servers: [], diagnosis } };
  } catch {
    // Timed out or aborted.
    return { url };
  }
}

/** This machine has several host names. */
function isThisPage({ hostname, port, protocol }: URL): boolean {
  const isHere = hostname === location.hostname || [hostname, location.hostname].every(isLoopback);
  return isHere && port === location.port && protocol === location.protocol;
}
