// MCP servers on this machine. The client is large and is loaded when one is met.
import type { Client, Transport } from '@modelcontextprotocol/client';
import { limited } from './patience';

export interface McpServer {
  /** What it calls itself. */
  title: string;
  /** As it listed them. */
  tools: unknown[];
}

/** What goes along with every request. */
export type Headers = Readonly<Record<string, string>>;

/** A call, while it runs. */
export interface McpCall {
  tool: string;
  args: Record<string, unknown>;
  /** So long it may go without a sign of life. */
  withinMs: number;
  signal: AbortSignal;
  onprogress: (progress: { progress: number; total?: number; message?: string }) => void;
}

const HANDSHAKE_MS = 5_000;
/** However many signs of life a call gives. */
const LONGEST_MS = 60 * 60 * 1000;
const MAX_PAGES = 200;

/** Connected, and kept for the next call. */
export class McpLine {
  #clients = new Map<string, Promise<Client>>();

  /** Says who it is and what it offers. Fails with whatever was in the way. */
  list(url: string, headers: Headers, signal?: AbortSignal): Promise<McpServer> {
    return this.#ask(url, headers, (client) => listed(client, signal), {
      signal,
      again: () => true,
    });
  }

  /** What the tool answered, as it came. */
  call(url: string, headers: Headers, call: McpCall): Promise<unknown> {
    const make = (client: Client) =>
      raw(
        client,
        'tools/call',
        { name: call.tool, arguments: call.args },
        {
          signal: call.signal,
          timeout: call.withinMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: LONGEST_MS,
          onprogress: call.onprogress,
        },
      );
    return this.#ask(url, headers, make, { again: isForgotten });
  }

  /** The next call connects anew. */
  drop(url: string): void {
    const client = this.#clients.get(url);
    this.#clients.delete(url);
    client?.then((client) => client.close()).catch(() => {});
  }

  /** Asks over the connection that is there; over another one where that is no longer good. */
  async #ask<Answer>(
    url: string,
    headers: Headers,
    question: (client: Client) => Promise<Answer>,
    { signal, again }: { signal?: AbortSignal; again: (error: unknown) => boolean },
  ): Promise<Answer> {
    const kept = this.#clients.get(url);
    if (kept) {
      try {
        return await question(await kept);
      } catch (error) {
        if (signal?.aborted || !again(error)) throw error;
        if (this.#clients.get(url) === kept) this.drop(url);
      }
    }
    const made = this.#connect(url, headers, signal);
    return question(await made);
  }

  #connect(url: string, headers: Headers, signal?: AbortSignal): Promise<Client> {
    const known = this.#clients.get(url);
    if (known) return known;
    const forget = () => {
      if (this.#clients.get(url) === client) this.#clients.delete(url);
    };
    const client = connect(url, headers, signal, forget);
    client.catch(forget);
    this.#clients.set(url, client);
    return client;
  }
}

/** The server was started anew and knows nothing of us: it has not done anything either. */
function isForgotten(error: unknown): boolean {
  const { data } = error as { data?: { status?: number } };
  return data?.status === 404;
}

async function listed(client: Client, signal?: AbortSignal): Promise<McpServer> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const options = { signal, timeout: HANDSHAKE_MS };
    const answer = await raw(client, 'tools/list', cursor ? { cursor } : {}, options);
    if (!Array.isArray(answer.tools)) throw new NoList();
    tools.push(...(answer.tools as unknown[]));
    const next = answer.nextCursor;
    if (typeof next !== 'string' || !next || next === cursor) break;
    cursor = next;
  }
  const info = client.getServerVersion();
  return { title: info?.title ?? info?.name ?? '', tools };
}

/** It answers, but its list of tools is none. */
export class NoList extends Error {}

/** Streamable HTTP, or SSE as the first servers had it. */
async function connect(
  url: string,
  headers: Headers,
  signal: AbortSignal | undefined,
  onclose: () => void,
): Promise<Client> {
  const sdk = await import('@modelcontextprotocol/client');
  const requestInit = { headers: { ...headers } };
  const ways: (() => Transport)[] = [
    () => new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit }),
    () => new sdk.SSEClientTransport(new URL(url), { requestInit }),
  ];
  if (new URL(url).pathname.endsWith('/sse')) ways.reverse();
  let first: unknown;
  for (const way of ways) {
    const client = new sdk.Client(
      { name: 'tenon', version: '1' },
      { versionNegotiation: { mode: 'auto', probe: { timeoutMs: HANDSHAKE_MS } } },
    );
    const limit = limited(HANDSHAKE_MS, { asking: false, signal });
    try {
      await within(limit, client.connect(way(), { timeout: HANDSHAKE_MS, signal: limit }));
      client.onclose = onclose;
      return client;
    } catch (error) {
      first ??= error;
      void client.close().catch(() => {});
      // Whoever is silent to one is silent to the other.
      if (limit.aborted) break;
    }
  }
  throw first;
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
