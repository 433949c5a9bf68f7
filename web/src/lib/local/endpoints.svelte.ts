// Which addresses this browser looks at, and the keys it has for them. The addresses may be
// kept in the account as well, for the person's other browsers; the keys never leave this one.
import { devices } from '$lib/api/devices';
import type { LocalEndpoint } from '$lib/api/types';
import { recall, remember, whenChangedElsewhere } from '$lib/storage';
import { readAddress } from './address';

const ENDPOINTS = 'local.endpoints';
const KEYS = 'local.keys';
const PORTS = 'local.ports';
const SYNC = 'local.sync';

/** Where an mcpo listens unless told otherwise. */
export const DEFAULT_URL = 'http://localhost:8000';
const DEFAULTS: readonly LocalEndpoint[] = [
  { url: DEFAULT_URL, name: '', kind: 'auto', enabled: true },
];
/** Where tool servers often listen. */
export const DEFAULT_PORTS: readonly number[] = [
  8000, 8001, 8002, 8080, 8081, 8765, 8888, 3000, 3001, 5000, 6277, 9000,
];

/** A key, and the header it goes in. */
export interface Key {
  header: string;
  value: string;
}

export class Endpoints {
  all = $state.raw<readonly LocalEndpoint[]>(DEFAULTS);
  ports = $state.raw<readonly number[]>(DEFAULT_PORTS);
  /** Whether they are kept in the account. */
  synced = $state(false);
  #keys = $state.raw<Readonly<Record<string, Key>>>({});

  /** Until the function it returns is called. Another tab of this browser may change them. */
  start(changed: () => void): () => void {
    this.#read();
    const again = () => {
      this.#read();
      changed();
    };
    const stops = [ENDPOINTS, KEYS].map((key) => whenChangedElsewhere(key, again));
    void this.#adopt().then((adopted) => adopted && changed());
    return () => stops.forEach((stop) => stop());
  }

  get enabled(): LocalEndpoint[] {
    return this.all.filter(({ enabled }) => enabled);
  }

  /** Puts it in the place of one with that address, or adds it. */
  put(endpoint: LocalEndpoint, replaces = endpoint.url): void {
    const others = this.all.filter(({ url }) => url !== endpoint.url || url === replaces);
    const place = others.findIndex(({ url }) => url === replaces);
    this.#write(place < 0 ? [...others, endpoint] : others.with(place, endpoint));
    if (replaces !== endpoint.url) this.#moveKey(replaces, endpoint.url);
  }

  remove(url: string): void {
    this.#write(this.all.filter((endpoint) => endpoint.url !== url));
    this.setKey(url, undefined);
  }

  keyOf(url: string): Key | undefined {
    return this.#keys[url];
  }

  headersOf(url: string): Record<string, string> {
    const key = this.keyOf(url);
    return key?.value ? { [key.header.toLowerCase()]: key.value } : {};
  }

  setKey(url: string, key: Key | undefined): void {
    const { [url]: _old, ...others } = this.#keys;
    this.#keys = key?.value ? { ...others, [url]: key } : others;
    remember(KEYS, Object.keys(this.#keys).length > 0 ? JSON.stringify(this.#keys) : '');
  }

  setPorts(ports: readonly number[]): void {
    this.ports = ports.length > 0 ? ports : DEFAULT_PORTS;
    remember(PORTS, ports.join(','));
  }

  /** Fails with what the server said. */
  async setSynced(synced: boolean): Promise<void> {
    this.synced = synced;
    remember(SYNC, synced ? 'yes' : 'no');
    if (!synced) return;
    const kept = (await devices.endpoints()) ?? [];
    const known = new Set(this.all.map(({ url }) => url));
    const all = [...this.all, ...kept.filter(({ url }) => !known.has(url))];
    this.#write(all);
  }

  /** What another browser kept in the account. Whether there was anything new. */
  async #adopt(): Promise<boolean> {
    const said = recall(SYNC);
    if (said === 'no') return false;
    const kept = await devices.endpoints().catch(() => null);
    if (!kept) return false;
    this.synced = true;
    // Those that cannot be kept there stay here.
    const own = this.all.filter((endpoint) => !isKeepable(endpoint));
    const all = [...kept, ...own];
    if (JSON.stringify(all) === JSON.stringify(this.all)) return false;
    this.all = all;
    remember(ENDPOINTS, JSON.stringify(all));
    return true;
  }

  #write(all: readonly LocalEndpoint[]): void {
    this.all = all;
    remember(ENDPOINTS, JSON.stringify(all));
    if (this.synced) devices.keepEndpoints(all.filter(isKeepable)).catch(() => {});
  }

  #moveKey(from: string, to: string): void {
    const key = this.keyOf(from);
    this.setKey(from, undefined);
    if (key) this.setKey(to, key);
  }

  #read(): void {
    this.all = parsed<LocalEndpoint[]>(recall(ENDPOINTS))?.filter(isEndpoint) ?? DEFAULTS;
    this.#keys = parsed<Record<string, Key>>(recall(KEYS)) ?? {};
    const ports = readPorts(recall(PORTS) ?? '');
    this.ports = ports.length > 0 ? ports : DEFAULT_PORTS;
    this.synced = recall(SYNC) === 'yes';
  }
}

/** "8000, 3000-3002": what is no port is left out. */
export function readPorts(text: string): number[] {
  const ports = text.split(/[\s,;，、；]+/).flatMap((piece) => {
    const [, from, to] = /^(\d{1,5})(?:[-–](\d{1,5}))?$/.exec(piece) ?? [];
    if (!from) return [];
    const last = Math.min(Number(to ?? from), Number(from) + 99);
    return Array.from({ length: Math.max(last - Number(from) + 1, 0) }, (_, n) => Number(from) + n);
  });
  return [...new Set(ports.filter((port) => port > 0 && port < 65_536))].slice(0, 200);
}

/** A key may stand in the query of an address. */
function isKeepable({ url }: LocalEndpoint): boolean {
  const { search, username, password } = new URL(url);
  return !search && !username && !password;
}

function isEndpoint(value: unknown): value is LocalEndpoint {
  const { url } = (value ?? {}) as Partial<LocalEndpoint>;
  return typeof url === 'string' && readAddress(url) !== undefined;
}

function parsed<Value>(text: string | undefined): Value | undefined {
  try {
    return text ? (JSON.parse(text) as Value) : undefined;
  } catch {
    return undefined;
  }
}
