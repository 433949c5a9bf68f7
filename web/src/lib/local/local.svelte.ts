// Tool servers on this machine: discovers them, registers them with Tenon, and executes the calls
// that Tenon sends.
import type {
  ClientFrame,
  DeviceInfo,
  ErrorDetail,
  ExecuteTool,
  LocalEndpoint,
  ServerFrame,
} from '$lib/api/types';
import { toolPanelMessages } from '$lib/i18n/toolpanel/messages';
import { canonicalUrl, normalizedUrl } from './address';
import { Computer } from './computer.svelte';
import { pageId, systemName } from './device';
import type { Diagnosis } from './diagnose';
import { discover, candidateUrls, type DiscoverResult } from './discover';
import { Endpoints } from './endpoints.svelte';
import { endpointStatus, type EndpointCheck, type EndpointStatus } from './endpointStatus';
import { Executor, type ReachableServer } from './execute';
import { McpClientPool } from './mcp';
import { Offers } from './offers';
import { willPrompt, onPermissionChange } from './permission';
import { RecentResults } from './recentResults';
import { Registrations } from './registrations.svelte';
import { scan, type ScanHit } from './scan';
import { ServerNews, type ServerChanges } from './serverNews';

/** How often what is there is checked while the page is seen, and all addresses while the panel is
    open. */
const CHECK_INTERVAL_MS = 30_000;
/** How often endpoints that were lost are checked: they may be restarted. */
const LOST_CHECK_INTERVAL_MS = 5_000;
/** Time to send cancellations before the connections are closed. */
const CANCEL_GRACE_MS = 500;

export class Local {
  readonly endpoints = new Endpoints();
  readonly computer = new Computer(() => this.proposedName);
  /** By address. */
  checks = $state.raw<ReadonlyMap<string, EndpointCheck>>(new Map());
  /** What a scan found, while it runs and after. */
  scanned = $state.raw<readonly ScanHit[]>();
  scanning = $state(false);
  /** Requests to this machine need a permission that the person has not given yet. */
  needsPermission = $state(false);

  readonly #found = $derived(
    this.endpoints.enabled.map(({ url }) => ({
      url,
      servers: this.checks.get(url)?.finding?.servers ?? [],
      hasKey: this.endpoints.keyOf(url) !== undefined,
    })),
  );
  /** Each server once, though it may be found at several addresses. */
  readonly #offers = $derived(new Offers(this.#found));
  readonly #registrations = new Registrations();
  readonly #news = new ServerNews();
  readonly #onchanges: (changes: ServerChanges) => void;
  readonly #onunknown: () => void;
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

  /** `onchanges` hears of servers that come and go by themselves, `onunknown` that a person has to
      say which computer this is. */
  constructor(
    send: (frame: ClientFrame) => void,
    onchanges: (changes: ServerChanges) => void = () => {},
    onunknown: () => void = () => {},
  ) {
    this.#onchanges = onchanges;
    this.#onunknown = onunknown;
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
    const stopComputer = this.computer.start(() => this.#register());
    const stopPermission = onPermissionChange(() => void this.look());
    const isSeen = () => document.visibilityState === 'visible';
    const isLost = ({ url }: LocalEndpoint) => this.checks.get(url)?.finding?.servers.length === 0;
    const isIdle = (endpoint: LocalEndpoint) => !this.#isBusy(endpoint);
    const timers = [
      setInterval(() => void this.#checkAgain(isLost), LOST_CHECK_INTERVAL_MS),
      setInterval(() => isSeen() && void this.#checkAgain(isIdle), CHECK_INTERVAL_MS),
    ];
    // Who comes back to the page may have started a server meanwhile.
    const comeBack = () => isSeen() && void this.look();
    document.addEventListener('visibilitychange', comeBack);
    void this.look();
    return () => {
      this.#stopped.abort();
      timers.forEach(clearInterval);
      document.removeEventListener('visibilitychange', comeBack);
      stopEndpoints();
      stopComputer();
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
        if (this.#registrations.take(frame, this.#offers.servers)) this.#register();
        break;
    }
  }

  /** What Tenon said of what was found, by hash. */
  get registrations() {
    return this.#registrations.all;
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

  /** Adds or changes an address, and checks at it. A new one that leads to a server in the list
      is not kept, unless a person said more of it. The result is the address that is. */
  async put(endpoint: LocalEndpoint, replaces?: string): Promise<string> {
    const { url, name } = endpoint;
    const isNew = !this.endpoints.all.some((one) => one.url === (replaces ?? url));
    if (replaces && replaces !== endpoint.url) this.#forget(replaces);
    this.endpoints.put(endpoint, replaces);
    this.#trusted.clear();
    candidateUrls(endpoint.url).forEach((place) => this.#mcp.drop(place));
    // One that runs already knows nothing of the change.
    this.#running.delete(endpoint.url);
    if (endpoint.enabled) await this.#check(endpoint, true);
    else this.#forget(url);
    const same = this.statusOf(endpoint).sameAs;
    if (!isNew || !same || name || this.endpoints.keyOf(url)) return url;
    this.remove(url);
    return same;
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
      const known = new Set(this.endpoints.all.map(({ url }) => canonicalUrl(url)));
      const urls = this.endpoints.ports.map((port) =>
        normalizedUrl(new URL(`http://localhost:${port}`)),
      );
      const looking = { mcp: this.#mcp, mayAsk: true, signal: this.#stopped.signal };
      for await (const seen of scan(urls, known, looking)) {
        if (this.#stopped.signal.aborted) return;
        const { servers } = seen.finding;
        const found = [...this.#found, { url: seen.url, servers }];
        const isKnown = seen.known || new Offers(found).sameAs({ url: seen.url, servers });
        this.scanned = [...this.scanned, { ...seen, known: Boolean(isKnown) }];
        if (isKnown || servers.length === 0) continue;
        this.endpoints.put({ url: seen.url, name: '', kind: 'auto', enabled: true });
        this.#put(seen.url, { looking: false, waiting: false, finding: seen.finding });
        this.#foundBefore.add(seen.url);
        this.#tellNews(false);
        this.#register();
      }
    } finally {
      this.scanning = false;
    }
  }

  /** Why Tenon took nothing of what was offered last. */
  get problem(): ErrorDetail | undefined {
    return this.#registrations.problem;
  }

  /** What a computer that has no name yet may be called. */
  get proposedName(): string {
    return toolPanelMessages().computerOf(systemName());
  }

  nameComputer(name: string): void {
    this.computer.name(name);
    this.#register();
  }

  async adoptComputer(device: DeviceInfo): Promise<void> {
    const adopted = this.computer.adopt(device);
    this.#register();
    await adopted;
  }

  statusOf(endpoint: LocalEndpoint): EndpointStatus {
    const check = this.checks.get(endpoint.url);
    return endpointStatus(endpoint, check, this.#offers, this.#registrations.all);
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
    // Who clicked sees what came of it.
    this.#tellNews(!mayAsk);
    this.needsPermission = await this.#isAsked();
    this.#register();
  }

  /** Whoever works on a call may have no time for anything else, and is there. */
  #isBusy({ url }: LocalEndpoint): boolean {
    return this.#executor.worksFor(candidateUrls(url));
  }

  /** Looks again where something was found before. */
  async #checkAgain(isMeant: (endpoint: LocalEndpoint) => boolean): Promise<void> {
    const again = this.endpoints.enabled.filter(
      (endpoint) => this.#foundBefore.has(endpoint.url) && isMeant(endpoint),
    );
    await Promise.all(again.map((endpoint) => this.#check(endpoint, false)));
  }

  /** Once all addresses were looked at: before that, what is found is no news. */
  #tellNews(tell: boolean): void {
    const isLooked = ({ url }: LocalEndpoint) => this.checks.get(url)?.finding !== undefined;
    if (!this.endpoints.enabled.every(isLooked)) return;
    const changes = this.#news.update(this.#offers.servers, { tell });
    if (changes.come.length + changes.gone.length > 0) this.#onchanges(changes);
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
      // Where it is not known which computer this is, nothing was registered.
      if (!shared.has(place) && this.computer.info)
        this.#send({ type: 'tools:unregister', url: place });
    }
    this.#tellNews(false);
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

  #register(): void {
    const checks = this.endpoints.enabled.map(({ url }) => ({ url, look: this.checks.get(url) }));
    const looking = checks.filter(({ look }) => !look?.finding);
    // Before anything is known there is nothing to say.
    if (checks.length > 0 && looking.length === checks.length) return;
    const device = this.computer.info;
    if (!device) return this.#identify();
    this.#send({
      type: 'tools:register',
      device,
      page: pageId,
      servers: this.#registrations.toSend(this.#offers.servers),
      looking: looking.flatMap(({ url }) => candidateUrls(url)),
      calls: this.#executor.calls,
    });
  }

  /** Before the first tools of a computer are offered: which one is it? */
  #identify(): void {
    if (this.#offers.servers.length === 0 || this.computer.candidates) return;
    const known = this.computer.identify().then(() => {
      if (this.computer.info) this.#register();
      else if (this.computer.candidates) this.#onunknown();
    });
    // It is asked again at the next check.
    known.catch(() => {});
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
