// Which addresses this browser looks at, and the keys it has for them. The addresses may be
// kept in the account as well, for the person's other browsers; the keys never leave this one.
import { settingChanges } from '$lib/account/events';
import { devices } from '$lib/api/devices';
import type { LocalEndpoint } from '$lib/api/types';
import { Refresher } from '$lib/refresher';
import { ResponseOrder } from '$lib/responseOrder';
import { loadSetting, saveSetting, onChangedInOtherTab } from '$lib/storage';
import { readAddress } from './address';

const ENDPOINTS = 'local.endpoints';
const KEYS = 'local.keys';
const PORTS = 'local.ports';
const SYNC = 'local.sync';
/** The account does not have the latest of them yet. */
const UNSENT_KEY = 'local.unsent';

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
  /** Outdated if another account has logged in meanwhile. */
  #stopped = false;
  #changed = () => {};
  #order = new ResponseOrder();
  #refresher = new Refresher(() => this.#adopt());

  /** Until the function it returns is called. Another tab or device may change them. */
  start(changed: () => void): () => void {
    this.#stopped = false;
    this.#changed = changed;
    this.#read();
    const again = () => {
      this.#overtake();
      this.#read();
      changed();
    };
    const stops = [ENDPOINTS, KEYS].map((key) => onChangedInOtherTab(key, again));
    stops.push(settingChanges.add(() => this.#refresher.soon()));
    void this.#refresher.now();
    return () => {
      this.#stopped = true;
      this.#refresher.stop();
      stops.forEach((stop) => stop());
    };
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
    saveSetting(KEYS, Object.keys(this.#keys).length > 0 ? JSON.stringify(this.#keys) : '');
  }

  setPorts(ports: readonly number[]): void {
    this.ports = ports.length > 0 ? ports : DEFAULT_PORTS;
    saveSetting(PORTS, ports.join(','));
  }

  /** Fails with what the server said. */
  async setSynced(synced: boolean): Promise<void> {
    const kept = (synced && (await devices.endpoints())) || [];
    if (this.#stopped) return;
    this.synced = synced;
    saveSetting(SYNC, synced ? 'yes' : 'no');
    if (synced) this.#write(merged(this.all, kept));
  }

  /** Gives the account what it does not have yet, and takes over what another browser kept there.
      Fails with what the server said. */
  async #adopt(): Promise<void> {
    if (loadSetting(SYNC) === 'no') return;
    if (this.synced && loadSetting(UNSENT_KEY)) await this.#upload();
    // What was changed meanwhile is on its way.
    if (loadSetting(UNSENT_KEY)) return;
    const isNewest = this.#order.send();
    const kept = await devices.endpoints();
    const said = loadSetting(SYNC);
    if (!isNewest() || !kept || this.#stopped || said === 'no') return;
    const before = this.all;
    const isNew = said === undefined;
    this.synced = true;
    saveSetting(SYNC, 'yes');
    // Those that cannot be kept there stay here, and so does what a person added before.
    const own = isNew
      ? loadSetting(ENDPOINTS) && this.all
      : this.all.filter((one) => !isKeepable(one));
    const all = merged(kept, own || []);
    if (isNew && all.length > kept.length) this.#write(all);
    else this.#set(all);
    if (JSON.stringify(all) !== JSON.stringify(before)) this.#changed();
  }

  /** What a person did is newer than an answer under way, which may have brought something else. */
  #overtake(): void {
    if (this.#order.discard()) this.#refresher.soon();
  }

  #write(all: readonly LocalEndpoint[]): void {
    this.#overtake();
    this.#set(all);
    if (this.synced) this.#upload().catch(() => this.#refresher.soon());
  }

  #set(all: readonly LocalEndpoint[]): void {
    this.all = all;
    saveSetting(ENDPOINTS, JSON.stringify(all));
  }

  /** Fails with what the server said; then the account is given it the next time. */
  async #upload(): Promise<void> {
    const { all } = this;
    saveSetting(UNSENT_KEY, 'yes');
    await devices.keepEndpoints(all.filter(isKeepable));
    if (!this.#stopped && this.all === all) saveSetting(UNSENT_KEY, '');
  }

  #moveKey(from: string, to: string): void {
    const key = this.keyOf(from);
    this.setKey(from, undefined);
    if (key) this.setKey(to, key);
  }

  #read(): void {
    this.all = parsed<LocalEndpoint[]>(loadSetting(ENDPOINTS))?.filter(isEndpoint) ?? DEFAULTS;
    this.#keys = parsed<Record<string, Key>>(loadSetting(KEYS)) ?? {};
    const ports = readPorts(loadSetting(PORTS) ?? '');
    this.ports = ports.length > 0 ? ports : DEFAULT_PORTS;
    this.synced = loadSetting(SYNC) === 'yes';
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

/** The first, and what only the others have. */
function merged(
  first: readonly LocalEndpoint[],
  others: readonly LocalEndpoint[],
): readonly LocalEndpoint[] {
  const known = new Set(first.map(({ url }) => url));
  return [...first, ...others.filter(({ url }) => !known.has(url))];
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
