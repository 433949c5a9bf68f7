// A pool of MCP clients for servers on this machine. The client library is large and loaded on
// first use.
import type { Client, Transport } from '@modelcontextprotocol/client';
import { isSsePath } from './address';
import { timeoutSignal } from './timeouts';
import { cancelBody, isCrossOriginRedirect } from './probe';

export interface McpServer {
  /** What it calls itself. */
  title: string;
  /** As it listed them. */
  tools: unknown[];
}

/** Headers sent with every request. */
export type HeaderMap = Readonly<Record<string, string>>;

/** A call, while it runs. */
export interface McpCall {
  tool: string;
  args: Record<string, unknown>;
  /** Timeout that progress notifications reset. */
  withinMs: number;
  signal: AbortSignal;
  onprogress: (progress: { progress: number; total?: number; message?: string }) => void;
}

const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Total timeout, however much progress a call reports. */
const MAX_CALL_MS = 60 * 60 * 1000;
const MAX_PAGES = 200;
/** A stream takes one of the six connections that all pages together have to a host. Shorter than
    a handshake, so that whoever waits for one still gets it. */
const IDLE_STREAM_MS = 2_000;

/** Keeps connections open for the next call. */
export class McpClientPool {
  /** By address and headers, so that another key gets another connection. */
  #kept = new Map<string, Connection>();

  /** Says who it is and what it offers. Fails with whatever was in the way. */
  list(url: string, headers: HeaderMap, signal?: AbortSignal): Promise<McpServer> {
    return this.#ask(url, headers, (client) => listed(client, signal), {
      signal,
      again: () => true,
    });
  }

  /** What the tool answered, as it came. */
  call(url: string, headers: HeaderMap, call: McpCall): Promise<unknown> {
    const make = (client: Client) =>
      raw(
        client,
        'tools/call',
        { name: call.tool, arguments: call.args },
        {
          signal: call.signal,
          timeout: call.withinMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: MAX_CALL_MS,
          onprogress: call.onprogress,
        },
      );
    return this.#ask(url, headers, make, { again: isForgotten });
  }

  /** The next call connects anew; those that run go on. */
  drop(url: string): void {
    for (const [id, connection] of this.#kept) if (connection.url === url) this.#end(id);
  }

  /** Ends everything, what runs as well. */
  close(): void {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    all.forEach((connection) => connection.close());
  }

  /** Uses the open connection, or a new one if it is stale. */
  async #ask<Answer>(
    url: string,
    headers: HeaderMap,
    question: (client: Client) => Promise<Answer>,
    { signal, again }: { signal?: AbortSignal; again: (error: unknown) => boolean },
  ): Promise<Answer> {
    const id = JSON.stringify([url, headers]);
    const kept = this.#kept.get(id);
    if (kept) {
      try {
        return await kept.use(question);
      } catch (error) {
        if (signal?.aborted || !again(error)) throw error;
        if (this.#kept.get(id) === kept) this.#end(id);
      }
    }
    const made = this.#kept.get(id) ?? this.#connect(id, url, headers, signal);
    return made.use(question);
  }

  #connect(id: string, url: string, headers: HeaderMap, signal?: AbortSignal): Connection {
    const forget = () => {
      if (this.#kept.get(id) === made) this.#kept.delete(id);
    };
    const made = new Connection(url, connect(url, headers, signal, forget));
    made.connected.catch(forget);
    this.#kept.set(id, made);
    return made;
  }

  #end(id: string): void {
    const connection = this.#kept.get(id);
    this.#kept.delete(id);
    connection?.end();
  }
}

interface Connected {
  client: Client;
  /** An SSE stream occupies a connection even while idle. */
  streams: boolean;
}

/** A client, and how many use it. */
class Connection {
  #users = 0;
  #ended = false;
  #idle?: ReturnType<typeof setTimeout>;

  constructor(
    readonly url: string,
    readonly connected: Promise<Connected>,
  ) {}

  async use<Answer>(question: (client: Client) => Promise<Answer>): Promise<Answer> {
    this.#users += 1;
    clearTimeout(this.#idle);
    let streams = false;
    try {
      const connected = await this.connected;
      streams = connected.streams;
      return await question(connected.client);
    } finally {
      this.#users -= 1;
      if (this.#users === 0 && this.#ended) this.close();
      else if (this.#users === 0 && streams) {
        this.#idle = setTimeout(() => this.close(), IDLE_STREAM_MS);
      }
    }
  }

  /** Closes it once no call uses it. */
  end(): void {
    this.#ended = true;
    if (this.#users === 0) this.close();
  }

  close(): void {
    clearTimeout(this.#idle);
    this.connected.then(({ client }) => client.close()).catch(() => {});
  }
}

/** The server was started anew and knows nothing of us: it has not done anything either. */
function isForgotten(error: unknown): boolean {
  const { data } = error as { data?: { status?: number; text?: string } };
  const isUnknown = data?.status === 400 && /session|not initialized/i.test(data.text ?? '');
  return data?.status === 404 || isUnknown;
}

async function listed(client: Client, signal?: AbortSignal): Promise<McpServer> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const options = { signal, timeout: HANDSHAKE_TIMEOUT_MS };
    const answer = await raw(client, 'tools/list', cursor ? { cursor } : {}, options);
    if (!Array.isArray(answer.tools)) throw new ToolListError();
    tools.push(...(answer.tools as unknown[]));
    const next = answer.nextCursor;
    if (typeof next !== 'string' || !next || next === cursor) break;
    cursor = next;
  }
  const info = client.getServerVersion();
  return { title: info?.title ?? info?.name ?? '', tools };
}

/** It answers, but its list of tools is none. */
export class ToolListError extends Error {}

/** Streamable HTTP, or SSE as the first servers had it. */
async function connect(
  url: string,
  headers: HeaderMap,
  signal: AbortSignal | undefined,
  onclose: () => void,
): Promise<Connected> {
  const sdk = await import('@modelcontextprotocol/client');
  const requestInit = { headers: { ...headers } };
  const fetch = following();
  const plain = { requestInit, fetch: withoutEventStream(fetch) };
  const ways: { streams: boolean; open: () => Transport }[] = [
    { streams: false, open: () => new sdk.StreamableHTTPClientTransport(new URL(url), plain) },
    { streams: true, open: () => new sdk.SSEClientTransport(new URL(url), { requestInit, fetch }) },
  ];
  if (isSsePath(new URL(url))) ways.reverse();
  let first: unknown;
  for (const { streams, open } of ways) {
    const client = new sdk.Client(
      { name: 'tenon', version: '1' },
      { versionNegotiation: { mode: 'auto', probe: { timeoutMs: HANDSHAKE_TIMEOUT_MS } } },
    );
    const limit = timeoutSignal(HANDSHAKE_TIMEOUT_MS, { asking: false, signal });
    try {
      await within(limit, client.connect(open(), { timeout: HANDSHAKE_TIMEOUT_MS, signal: limit }));
      client.onclose = onclose;
      // Answers come over the stream that a server like this has for us, and over no other: with
      // it ends what was asked.
      client.onerror = (error) => {
        if (error instanceof sdk.SseError) void client.close().catch(() => {});
      };
      return { client, streams };
    } catch (error) {
      first ??= error;
      void client.close().catch(() => {});
      // A server that does not answer one does not answer the other.
      if (limit.aborted) break;
    }
  }
  throw first;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Refuses the standalone event stream, which would occupy a connection: only responses to calls
    are needed, and those come on their own. */
function withoutEventStream(fetch: Fetch): Fetch {
  return async (url, init) => {
    const isStream = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
    return isStream ? new Response(null, { status: 405 }) : fetch(url, init);
  };
}

/** Follows redirects within a server, as from `/mcp` to `/mcp/`, which fetch hides from the
    client. A request without the key finds the target first. */
function following(): Fetch {
  const moved = new Map<string, string>();
  return async (url, init) => {
    const { href } = new URL(url);
    const response = await fetch(moved.get(href) ?? href, init);
    if (response.type !== 'opaqueredirect') return response;
    const seen = await fetch(href, {
      credentials: 'omit',
      cache: 'no-store',
      signal: init?.signal,
    });
    cancelBody(seen);
    if (!seen.url || isCrossOriginRedirect(href, seen)) return response;
    moved.set(href, seen.url);
    return fetch(seen.url, init);
  };
}

/** The client waits for an SSE stream as long as it takes. */
function within<Result>(limit: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason as Error), { once: true });
    work.then(resolve, (error: unknown) => reject(limit.aborted ? limit.reason : error));
  });
}

type RawOptions = NonNullable<Parameters<Client['callTool']>[1]>;

/** What a server says is passed on as it is: Tenon reads it, with all its faults. */
function raw(
  client: Client,
  method: string,
  params: Record<string, unknown>,
  options: RawOptions,
): Promise<Record<string, unknown>> {
  const anything = {
    '~standard': {
      version: 1 as const,
      vendor: 'tenon',
      validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
    },
  };
  const answer = client.request({ method, params }, anything, options);
  return answer as Promise<Record<string, unknown>>;
}
