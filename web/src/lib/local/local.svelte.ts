// Tool servers on this machine: discovers them, registers them with Tenon, and executes the calls
// that Tenon sends.
import type {
  ClientFrame,
  ErrorDetail,
  ExecuteTool,
  LocalEndpoint,
  RegistrationResult,
  ServerFrame,
} from '$lib/api/types';
import { localToolsTooLong } from '$lib/i18n/errors/localToolsTooLong';
import { describeError } from '$lib/i18n/errorText';
import { normalizedUrl } from './address';
import { thisDevice, pageId } from './device';
import type { Diagnosis } from './diagnose';
import { discover, candidateUrls, type DiscoverResult, type ServerWithTools } from './discover';
import { Endpoints } from './endpoints.svelte';
import { Executor, type ReachableServer } from './execute';
import { McpClientPool } from './mcp';
import { willPrompt, onPermissionChange } from './permission';
import { RecentResults } from './recentResults';
import { scan, type ScanHit } from './scan';

/** The latest check of an endpoint. */
export interface EndpointCheck {
  /** A check is running. */
  looking: boolean;
  /** The browser seems to ask the person, somewhere above the page. */
  waiting: boolean;
  /** Absent until the first check has ended. */
  finding?: DiscoverResult;
}

/** Tenon's response to the registration of a server. */
export interface RegistrationState {
  tools: number;
  /** It cannot be used at all. */
  problem?: ErrorDetail;
  /** What was left out of it. */
  notes: ErrorDetail[];
}

/** What is shown of an endpoint. */
export interface EndpointStatus {
  state: 'off' | 'looking' | 'waiting' | 'found' | 'trouble';
  servers: readonly ServerWithTools[];
  tools: number;
  /** What is in the way: of the whole, or of one that it names. */
  diagnoses: readonly { name: string; diagnosis: Diagnosis }[];
  notes: readonly ErrorDetail[];
}

/** While the panel is open. */
const CHECK_INTERVAL_MS = 30_000;
/** Tenon takes no frame of more than 24 MiB, and ends the connection over a longer one. */
const MAX_OFFERED_MIB = 20;
const MAX_OFFERED_BYTES = MAX_OFFERED_MIB * 1024 * 1024;
/** How often endpoints that were lost are checked: they may be restarted. */
const LOST_CHECK_INTERVAL_MS = 5_000;
/** Time to send cancellations before the connections are closed. */
const CANCEL_GRACE_MS = 500;

export class Local {
  readonly endpoints = new Endpoints();
  /** By address. */
  checks = $state.raw<ReadonlyMap<string, EndpointCheck>>(new Map());
  /** What a scan found, while it runs and after. */
  scanned = $state.raw<readonly ScanHit[]>();
  scanning = $state(false);
  /** What Tenon said of what was found, by hash. */
  registrations = $state.raw<ReadonlyMap<string, RegistrationState>>(new Map());
  /** Requests to this machine need a permission that the person has not given yet. */
  needsPermission = $state(false);
  /** Why Tenon took nothing of what was offered last. */
  problem = $state.raw<ErrorDetail>();

  readonly #mcp = new McpClientPool();
  readonly #trusted = new Set<string>();
  readonly #results = new RecentResults();
  readonly #executor: Executor;
  readonly #send: (frame: ClientFrame) => void;
  #stopped = new AbortController();
  /** The latest look at each address, while it runs. */
  readonly #running = new Map<string, symbol>();
  /** Addresses where something was found since the page was loaded. */
  readonly #foundBefore = new Set<string>();
  /** What Tenon asked for. */
  #requested = new Set<string>();

  constructor(send: (frame: ClientFrame) => void) {
    this.#send = (frame) => {
      if (!this.#stopped.signal.aborted) send(frame);
    };
    this.#executor = new Executor({
      mcp: this.#mcp,
      reach: (url) => this.#reach(url),
      explain: (url) => this.#explain(url),
      progress: (call_id, progress) => this.#send({ type: 'tool:progress', call_id, ...progress }),
      ended: (call_id, outcome) => {
        const frame: ClientFrame = { type: 'tool:result', call_id, ...outcome };
        this.#results.keep(frame);
        this.#send(frame);
      },
    });
  }

  /** Looks at once where that asks nobody, and goes on until the function it returns is called:
      from then on nothing is left running, known or said. */
  start(): () => void {
    this.#stopped = new AbortController();
    const stopEndpoints = this.endpoints.start(() => {
      this.#running.clear();
      void this.look();
    });
    const stopPermission = onPermissionChange(() => void this.look());
    const lost = setInterval(() => void this.#checkLost(), LOST_CHECK_INTERVAL_MS);
    void this.look();
    return () => {
      this.#stopped.abort();
      clearInterval(lost);
      stopEndpoints();
      stopPermission();
      this.#running.clear();
      this.#executor.cancelAll();
      this.#results.clear();
      setTimeout(() => this.#mcp.close(), CANCEL_GRACE_MS);
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
        void this.#executor.execute(frame as ExecuteTool);
        break;
      case 'cancel:tool':
        this.#executor.cancel(frame.call_id);
        break;
      case 'tools:registered':
        this.#onRegistered(frame);
        break;
    }
  }

  /** Looks at all of them. A page may make the browser ask only when a person clicked. */
  async look({ mayAsk = false } = {}): Promise<void> {
    const { enabled } = this.endpoints;
    const wanted = new Set(enabled.map(({ url }) => url));
    this.checks = new Map([...this.checks].filter(([url]) => wanted.has(url)));
    const idle = enabled.filter((endpoint) => mayAsk || !this.#isBusy(endpoint));
    await Promise.all(idle.map((endpoint) => this.#check(endpoint, mayAsk)));
    if (enabled.length === 0) this.#register();
  }

  async lookAt(url: string): Promise<void> {
    this.#trusted.clear();
    const endpoint = this.endpoints.all.find((one) => one.url === url);
    if (endpoint) await this.#check(endpoint, true);
  }

  /** Checks regularly while the panel is open. Returns a function that stops it. */
  watch(): () => void {
    void this.look();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.look();
    }, CHECK_INTERVAL_MS);
    return () => clearInterval(timer);
  }

  /** Adds or changes an address, and checks at it. */
  async put(endpoint: LocalEndpoint, replaces?: string): Promise<void> {
    if (replaces && replaces !== endpoint.url) this.#forget(replaces);
    this.endpoints.put(endpoint, replaces);
    this.#trusted.clear();
    candidateUrls(endpoint.url).forEach((place) => this.#mcp.drop(place));
    // One that runs already knows nothing of the change.
    this.#running.delete(endpoint.url);
    if (endpoint.enabled) await this.#check(endpoint, true);
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
      const urls = this.endpoints.ports.map((port) =>
        normalizedUrl(new URL(`http://localhost:${port}`)),
      );
      const looking = { mcp: this.#mcp, mayAsk: true, signal: this.#stopped.signal };
      for await (const seen of scan(urls, known, looking)) {
        if (this.#stopped.signal.aborted) return;
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

  statusOf({ url, enabled }: LocalEndpoint): EndpointStatus {
    const look = this.checks.get(url);
    const servers = look?.finding?.servers ?? [];
    const said = servers.map((server) => ({ server, said: this.registrations.get(server.hash) }));
    const diagnoses = [...(look?.finding?.diagnoses ?? [])];
    const whole = look?.finding?.diagnosis;
    if (whole && diagnoses.length === 0) diagnoses.push({ name: '', diagnosis: whole });
    for (const { server, said: { problem } = {} } of said) {
      if (!problem) continue;
      const diagnosis: Diagnosis = { kind: 'badSpec', where: describeError(problem) };
      diagnoses.push({ name: server.name ?? '', diagnosis });
    }
    const tools = said.reduce((sum, { said }) => sum + (said?.tools ?? 0), 0);
    const notes = said.flatMap(({ said }) => said?.notes ?? []);
    const found = servers.length > 0 ? 'found' : 'trouble';
    const known = look?.finding ? found : 'looking';
    const state = !enabled ? 'off' : look?.waiting ? 'waiting' : known;
    return { state, servers, tools, diagnoses, notes };
  }

  async #check(endpoint: LocalEndpoint, mayAsk: boolean): Promise<void> {
    const { url, kind } = endpoint;
    if (this.#running.has(url)) return;
    const mine = Symbol(url);
    this.#running.set(url, mine);
    const isLatest = () => this.#running.get(url) === mine;
    const before = this.checks.get(url);
    this.#put(url, { ...before, looking: true, waiting: false });
    let finding: DiscoverResult;
    try {
      finding = await discover(
        { url, kind, headers: this.endpoints.headersOf(url) },
        {
          mcp: this.#mcp,
          mayAsk,
          trusted: this.#trusted,
          signal: this.#stopped.signal,
          onwaiting: () =>
            isLatest() && this.#put(url, { ...before, looking: true, waiting: true }),
        },
      );
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      finding = { servers: [], diagnosis: { kind: 'badHandshake', why } };
    }
    // It may have been changed, removed or switched off meanwhile.
    if (!isLatest()) return;
    this.#running.delete(url);
    if (finding.diagnosis?.kind === 'tooSlow' && before?.finding && this.#isBusy(endpoint)) {
      finding = before.finding;
    }
    if (finding.servers.length > 0) this.#foundBefore.add(url);
    this.#put(url, { looking: false, waiting: false, finding });
    this.needsPermission = await this.#isAsked();
    this.#register();
  }

  /** Whoever works on a call may have no time for anything else, and is there. */
  #isBusy({ url }: LocalEndpoint): boolean {
    return this.#executor.worksFor(candidateUrls(url));
  }

  async #checkLost(): Promise<void> {
    const isLost = ({ url }: LocalEndpoint) =>
      this.#foundBefore.has(url) && this.checks.get(url)?.finding?.servers.length === 0;
    const lost = this.endpoints.enabled.filter(isLost);
    await Promise.all(lost.map((endpoint) => this.#check(endpoint, false)));
  }

  #put(url: string, look: EndpointCheck): void {
    this.checks = new Map(this.checks).set(url, look);
  }

  #forget(url: string): void {
    this.checks = new Map([...this.checks].filter(([one]) => one !== url));
    this.#foundBefore.delete(url);
    this.#running.delete(url);
    const others = this.endpoints.enabled.filter((one) => one.url !== url);
    const shared = new Set(others.flatMap((one) => candidateUrls(one.url)));
    for (const place of candidateUrls(url)) {
      this.#mcp.drop(place);
      if (!shared.has(place)) this.#send({ type: 'tools:unregister', url: place });
    }
    this.#register();
  }

  /** Looks again at a server that failed a call. */
  async #explain(url: string): Promise<Diagnosis | undefined> {
    const endpoint = this.#endpointOf(url);
    if (!endpoint) return undefined;
    this.#trusted.clear();
    await this.#check(endpoint, false);
    return this.checks.get(endpoint.url)?.finding?.diagnosis;
  }

  #isAsked(): Promise<boolean> {
    return willPrompt(new URL('http://localhost'));
  }

  /** Each once, though it may be found at several addresses: as it is at its own. */
  #servers(): ServerWithTools[] {
    const servers = new Map<string, ServerWithTools>();
    for (const { url } of this.endpoints.enabled) {
      for (const server of this.checks.get(url)?.finding?.servers ?? []) {
        const id = idOf(server);
        if (server.url === url || !servers.has(id)) servers.set(id, server);
      }
    }
    return [...servers.values()];
  }

  #register(): void {
    const checks = this.endpoints.enabled.map(({ url }) => ({ url, look: this.checks.get(url) }));
    const looking = checks.filter(({ look }) => !look?.finding);
    // Before anything is known there is nothing to say.
    if (checks.length > 0 && looking.length === checks.length) return;
    const along = this.#along();
    this.#send({
      type: 'tools:register',
      device: thisDevice(),
      page: pageId,
      servers: this.#servers().map(({ offered, ...server }) =>
        along.has(idOf(server)) ? { ...server, offered } : server,
      ),
      looking: looking.flatMap(({ url }) => candidateUrls(url)),
      calls: this.#executor.calls,
    });
    this.#requested.clear();
  }

  /** Whose offers are sent along: what Tenon wants, as much as goes into one frame. It asks again
      for the rest. What does not even go alone cannot be used. */
  #along(): Set<string> {
    const along = new Set<string>();
    let room = MAX_OFFERED_BYTES;
    for (const server of this.#servers()) {
      const id = idOf(server);
      if (!this.#requested.has(id)) continue;
      const size = new Blob([JSON.stringify(server.offered)]).size;
      if (size > MAX_OFFERED_BYTES) {
        const problem = localToolsTooLong(MAX_OFFERED_MIB);
        const refused = { tools: 0, problem, notes: [] };
        this.registrations = new Map(this.registrations).set(server.hash, refused);
      } else if (size <= room) {
        room -= size;
        along.add(id);
      }
    }
    return along;
  }

  #onRegistered({ servers: answers, problem }: RegistrationResult): void {
    this.problem = problem;
    const said = new Map<string, RegistrationState>();
    const wanted = new Set<string>();
    for (const server of this.#servers()) {
      const { url, name, hash } = server;
      const answer = answers.find((one) => one.url === url && one.name === (name ?? ''));
      const before = this.registrations.get(hash);
      if (answer && !answer.wanted) {
        const { tools, problem, notes } = answer;
        said.set(hash, { tools, problem, notes });
      } else if (before && !said.has(hash)) {
        said.set(hash, before);
      }
      // What Tenon cannot use is not sent again.
      if (answer?.wanted && !before?.problem) wanted.add(idOf(server));
    }
    this.registrations = said;
    this.#requested = wanted;
    if (wanted.size > 0) this.#register();
  }

  /** Calls go to enabled addresses alone. */
  #reach(url: string): ReachableServer | undefined {
    const endpoint = this.#endpointOf(url);
    return endpoint && { url, headers: this.endpoints.headersOf(endpoint.url) };
  }

  /** The one that is exactly there has the key for it, rather than one beside it. */
  #endpointOf(url: string): LocalEndpoint | undefined {
    const { enabled } = this.endpoints;
    return (
      enabled.find((one) => one.url === url) ??
      enabled.find((one) => candidateUrls(one.url).includes(url))
    );
  }
}

function idOf({ url, name = '' }: Pick<ServerWithTools, 'url' | 'name'>): string {
  return `${url} ${name}`;
}
