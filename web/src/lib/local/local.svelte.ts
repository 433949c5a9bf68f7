// The tool servers on this machine: looks for them, tells Tenon what it found, and makes the
// calls that Tenon sends back.
import type { ClientFrame, Execute, LocalEndpoint, Registered, ServerFrame } from '$lib/api/types';
import { plain } from './address';
import { thisDevice, pageId } from './device';
import type { Trouble } from './diagnose';
import { discover, placesOf, type Finding, type Server } from './discover';
import { Endpoints } from './endpoints.svelte';
import { Executor, type Reached } from './execute';
import { McpLine } from './mcp';
import { isAsking, whenPermitted } from './permission';
import { Results } from './results';
import { scan, type Seen } from './scan';

/** What is known of an address. */
export interface Look {
  /** It is being looked at. */
  looking: boolean;
  /** The browser seems to ask the person, somewhere above the page. */
  waiting: boolean;
  /** Absent before the first look has ended. */
  finding?: Finding;
}

/** What Tenon made of a server's offer. */
export interface Said {
  tools: number;
  /** It cannot be used at all. */
  problem?: string;
  /** What was left out of it. */
  notes: string[];
}

/** What there is to say about an address. */
export interface Status {
  state: 'off' | 'looking' | 'waiting' | 'found' | 'trouble';
  servers: readonly Server[];
  tools: number;
  /** What is in the way: of the whole, or of one that it names. */
  troubles: readonly { name: string; trouble: Trouble }[];
  notes: readonly string[];
}

/** While the panel is open. */
const AGAIN_MS = 30_000;
/** Tenon takes no frame of more than 24 MiB, and ends the connection over a longer one. */
const MAX_OFFERED = 20 * 1024 * 1024;
/** One that was there and is not: whoever ended it may start it again. */
const LOST_MS = 5_000;

export class Local {
  readonly endpoints = new Endpoints();
  /** By address. */
  looks = $state.raw<ReadonlyMap<string, Look>>(new Map());
  /** What a scan found, while it runs and after. */
  scanned = $state.raw<readonly Seen[]>();
  scanning = $state(false);
  /** What Tenon said of what was found, by hash. */
  said = $state.raw<ReadonlyMap<string, Said>>(new Map());
  /** Requests to this machine need a permission that the person has not given yet. */
  needsPermission = $state(false);

  readonly #mcp = new McpLine();
  readonly #trusted = new Set<string>();
  readonly #results = new Results();
  readonly #executor: Executor;
  readonly #send: (frame: ClientFrame) => void;
  #stopped = new AbortController();
  /** Addresses where something was found since the page was loaded. */
  readonly #met = new Set<string>();
  /** Hashes that Tenon asked for. */
  #wanted = new Set<string>();

  constructor(send: (frame: ClientFrame) => void) {
    this.#send = send;
    this.#executor = new Executor({
      mcp: this.#mcp,
      reach: (url) => this.#reach(url),
      explain: (url) => this.#explain(url),
      progress: (call_id, progress) => send({ type: 'tool:progress', call_id, ...progress }),
      ended: (call_id, outcome) => {
        const frame: ClientFrame = { type: 'tool:result', call_id, ...outcome };
        this.#results.keep(frame);
        send(frame);
      },
    });
  }

  /** Looks at once where that asks nobody, and goes on until the function it returns is called. */
  start(): () => void {
    this.#stopped = new AbortController();
    const stopEndpoints = this.endpoints.start(() => void this.look());
    const stopPermission = whenPermitted(() => void this.look());
    const lost = setInterval(() => void this.#lookForLost(), LOST_MS);
    void this.look();
    return () => {
      this.#stopped.abort();
      clearInterval(lost);
      stopEndpoints();
      stopPermission();
    };
  }

  /** The connection is there, perhaps again. */
  connected(): void {
    this.#register();
    // Some of them may have been on their way when the connection broke.
    for (const frame of this.#results.recent()) this.#send(frame);
  }

  take(frame: ServerFrame): void {
    switch (frame.type) {
      case 'execute:tool':
        void this.#executor.execute(frame as Execute);
        break;
      case 'cancel:tool':
        this.#executor.cancel(frame.call_id);
        break;
      case 'tools:registered':
        this.#took(frame);
        break;
    }
  }

  /** Looks at all of them. A page may make the browser ask only when a person clicked. */
  async look({ mayAsk = false } = {}): Promise<void> {
    const { enabled } = this.endpoints;
    const wanted = new Set(enabled.map(({ url }) => url));
    this.looks = new Map([...this.looks].filter(([url]) => wanted.has(url)));
    // One that works on a call may have no time for anything else, and is there.
    const isBusy = ({ url }: LocalEndpoint) => this.#executor.worksFor(placesOf(url));
    const idle = enabled.filter((endpoint) => mayAsk || !isBusy(endpoint));
    await Promise.all(idle.map((endpoint) => this.#lookAt(endpoint, mayAsk)));
    if (enabled.length === 0) this.#register();
  }

  async lookAt(url: string): Promise<void> {
    this.#trusted.clear();
    const endpoint = this.endpoints.all.find((one) => one.url === url);
    if (endpoint) await this.#lookAt(endpoint, true);
  }

  /** While somebody watches, until the function it returns is called. */
  watch(): () => void {
    void this.look();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.look();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }

  /** Adds or changes an address, and looks at it. */
  async put(endpoint: LocalEndpoint, replaces?: string): Promise<void> {
    if (replaces && replaces !== endpoint.url) this.#forget(replaces);
    this.endpoints.put(endpoint, replaces);
    this.#trusted.clear();
    placesOf(endpoint.url).forEach((place) => this.#mcp.drop(place));
    if (endpoint.enabled) await this.#lookAt(endpoint, true);
    else this.#forget(endpoint.url);
  }

  remove(url: string): void {
    this.endpoints.remove(url);
    this.#forget(url);
  }

  /** Looks at every port of the list. What can be used is added. */
  async scan(): Promise<void> {
    if (this.scanning) return;
    this.scanning = true;
    this.scanned = [];
    try {
      const known = new Set(this.endpoints.all.map(({ url }) => url));
      const urls = this.endpoints.ports.map((port) => plain(new URL(`http://localhost:${port}`)));
      const looking = { mcp: this.#mcp, mayAsk: true, signal: this.#stopped.signal };
      for await (const seen of scan(urls, known, looking)) {
        this.scanned = [...this.scanned, seen];
        if (seen.known || seen.finding.servers.length === 0) continue;
        const found: LocalEndpoint = { url: seen.url, name: '', kind: 'auto', enabled: true };
        this.endpoints.put(found);
        this.#put(seen.url, { looking: false, waiting: false, finding: seen.finding });
        this.#register();
      }
    } finally {
      this.scanning = false;
    }
  }

  statusOf({ url, enabled }: LocalEndpoint): Status {
    const look = this.looks.get(url);
    const servers = look?.finding?.servers ?? [];
    const said = servers.map((server) => ({ server, said: this.said.get(server.hash) }));
    const troubles = [...(look?.finding?.troubles ?? [])];
    const whole = look?.finding?.trouble;
    if (whole && troubles.length === 0) troubles.push({ name: '', trouble: whole });
    for (const { server, said: { problem } = {} } of said) {
      const trouble: Trouble = { kind: 'badSpec', where: problem ?? '' };
      if (problem) troubles.push({ name: server.name ?? '', trouble });
    }
    const tools = said.reduce((sum, { said }) => sum + (said?.tools ?? 0), 0);
    const notes = said.flatMap(({ said }) => said?.notes ?? []);
    const found = servers.length > 0 ? 'found' : 'trouble';
    const known = look?.finding ? found : 'looking';
    const state = !enabled ? 'off' : look?.waiting ? 'waiting' : known;
    return { state, servers, tools, troubles, notes };
  }

  async #lookAt(endpoint: LocalEndpoint, mayAsk: boolean): Promise<void> {
    const { url, kind } = endpoint;
    const before = this.looks.get(url);
    if (before?.looking) return;
    this.#put(url, { ...before, looking: true, waiting: false });
    let finding: Finding;
    try {
      finding = await discover(
        { url, kind, headers: this.endpoints.headersOf(url) },
        {
          mcp: this.#mcp,
          mayAsk,
          trusted: this.#trusted,
          signal: this.#stopped.signal,
          onwaiting: () => this.#put(url, { ...before, looking: true, waiting: true }),
        },
      );
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      finding = { servers: [], trouble: { kind: 'badHandshake', why } };
    }
    // It may have been removed or switched off meanwhile.
    if (!this.endpoints.enabled.some((one) => one.url === url)) return;
    if (finding.servers.length > 0) this.#met.add(url);
    this.#put(url, { looking: false, waiting: false, finding });
    this.needsPermission = await this.#isAsked();
    this.#register();
  }

  async #lookForLost(): Promise<void> {
    const isLost = ({ url }: LocalEndpoint) =>
      this.#met.has(url) && this.looks.get(url)?.finding?.servers.length === 0;
    const lost = this.endpoints.enabled.filter(isLost);
    await Promise.all(lost.map((endpoint) => this.#lookAt(endpoint, false)));
  }

  #put(url: string, look: Look): void {
    this.looks = new Map(this.looks).set(url, look);
  }

  #forget(url: string): void {
    this.looks = new Map([...this.looks].filter(([one]) => one !== url));
    this.#met.delete(url);
    for (const place of placesOf(url)) {
      this.#send({ type: 'tools:unregister', url: place });
      this.#mcp.drop(place);
    }
    this.#register();
  }

  /** Looks again at a server that failed a call. */
  async #explain(url: string): Promise<Trouble | undefined> {
    const endpoint = this.#endpointOf(url);
    if (!endpoint) return undefined;
    this.#trusted.clear();
    await this.#lookAt(endpoint, false);
    return this.looks.get(endpoint.url)?.finding?.trouble;
  }

  #isAsked(): Promise<boolean> {
    return isAsking(new URL('http://localhost'));
  }

  #servers(): Server[] {
    return this.endpoints.enabled.flatMap(({ url }) => this.looks.get(url)?.finding?.servers ?? []);
  }

  #register(): void {
    const looks = this.endpoints.enabled.map(({ url }) => ({ url, look: this.looks.get(url) }));
    const looking = looks.filter(({ look }) => !look?.finding);
    // Before anything is known there is nothing to say.
    if (looks.length > 0 && looking.length === looks.length) return;
    const along = this.#along();
    this.#send({
      type: 'tools:register',
      device: thisDevice(),
      page: pageId,
      servers: this.#servers().map(({ offered, ...server }) =>
        along.has(server.hash) ? { ...server, offered } : server,
      ),
      looking: looking.flatMap(({ url }) => placesOf(url)),
      calls: this.#executor.calls,
    });
    this.#wanted.clear();
  }

  /** The hashes of what is sent along: what Tenon wants, as much as goes into one frame. It asks
      again for the rest. What does not even go alone cannot be used. */
  #along(): Set<string> {
    const along = new Set<string>();
    let room = MAX_OFFERED;
    for (const { hash, offered } of this.#servers()) {
      if (!this.#wanted.has(hash) || along.has(hash)) continue;
      const size = new Blob([JSON.stringify(offered)]).size;
      if (size > MAX_OFFERED) {
        const problem = `${Math.ceil(size / 1024 / 1024)} MiB > ${MAX_OFFERED / 1024 / 1024} MiB`;
        this.said = new Map(this.said).set(hash, { tools: 0, problem, notes: [] });
      } else if (size <= room) {
        room -= size;
        along.add(hash);
      }
    }
    return along;
  }

  #took({ servers: answers }: Registered): void {
    const said = new Map<string, Said>();
    const wanted = new Set<string>();
    for (const { url, name, hash } of this.#servers()) {
      const answer = answers.find((one) => one.url === url && one.name === (name ?? ''));
      const before = this.said.get(hash);
      if (answer && !answer.wanted) {
        const { tools, problem, notes } = answer;
        said.set(hash, { tools, problem: problem?.message, notes });
      } else if (before) {
        said.set(hash, before);
      }
      // What Tenon cannot use is not sent again.
      if (answer?.wanted && !before?.problem) wanted.add(hash);
    }
    this.said = said;
    this.#wanted = wanted;
    if (wanted.size > 0) this.#register();
  }

  /** Calls go to enabled addresses alone. */
  #reach(url: string): Reached | undefined {
    const endpoint = this.#endpointOf(url);
    return endpoint && { url, headers: this.endpoints.headersOf(endpoint.url) };
  }

  #endpointOf(url: string): LocalEndpoint | undefined {
    return this.endpoints.enabled.find((one) => placesOf(one.url).includes(url));
  }
}
