// Makes the calls that Tenon sends: only to servers that the person has enabled here,
// with the key that only this browser knows.
import type { CallId, ExecuteTool, LocalCallOutcome, WireBody, WireRequest } from '$lib/api/types';
import type { Diagnosis } from './diagnose';
import type { McpClientPool } from './mcp';
import { claimCall } from './callClaims';
import { cancelBody, isCrossOriginRedirect } from './probe';
import { isForbidden, modelMessage } from './modelMessage';

/** How an enabled server is reached. */
export interface ReachableServer {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** What the executor needs, and the callbacks it reports to. */
export interface ExecutorContext {
  mcp: McpClientPool;
  /** The enabled server at this address. */
  reach(url: string): ReachableServer | undefined;
  /** Looks what is wrong with a server that did not answer. */
  explain(url: string): Promise<Diagnosis | undefined>;
  /** Reports progress; the first report says that the call has started. */
  progress(callId: CallId, progress?: { progress: number; total?: number; message?: string }): void;
  ended(callId: CallId, outcome: LocalCallOutcome): void;
}

/** Larger results are useless to a model and are not sent. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;
/** How often a slow response is reported as progress. */
const PROGRESS_INTERVAL_MS = 5_000;
/** A refused connection fails faster than this. */
const REFUSED_WITHIN_MS = 3_000;

export class Executor {
  #running = new Map<CallId, { abort: AbortController; url: string }>();

  constructor(private readonly around: ExecutorContext) {}

  /** The calls that it works on. */
  get calls(): CallId[] {
    return [...this.#running.keys()];
  }

  /** Whether one of these servers works on a call. */
  worksFor(urls: readonly string[]): boolean {
    return [...this.#running.values()].some(({ url }) => urls.includes(url));
  }

  cancel(callId: CallId): void {
    this.#running.get(callId)?.abort.abort();
    this.#running.delete(callId);
  }

  cancelAll(): void {
    this.calls.forEach((callId) => this.cancel(callId));
  }

  async execute(order: ExecuteTool): Promise<void> {
    const { call_id: callId } = order;
    if (this.#running.has(callId)) return;
    const abort = new AbortController();
    this.#running.set(callId, { abort, url: order.server_url });
    const outcome = await this.#outcome(order, abort).catch((error: unknown) =>
      failed('broken', error instanceof Error ? error.message : String(error)),
    );
    // Whoever cancelled it does not want to hear of it.
    if (!this.#running.delete(callId)) return;
    this.around.ended(callId, outcome);
  }

  async #outcome(order: ExecuteTool, abort: AbortController): Promise<LocalCallOutcome> {
    const server = this.around.reach(order.server_url);
    if (!server) {
      return failed('refused', `The server at ${order.server_url} is not enabled in this browser.`);
    }
    if (!(await claimCall(order.call_id)))
      return failed('taken', 'Another page has begun with it.');
    this.around.progress(order.call_id);
    const began = performance.now();
    try {
      return order.request
        ? await this.#fetch(order.request, order, server, abort)
        : await this.#call(order, server, abort);
    } catch (error) {
      return await this.#failure(error, order, abort, performance.now() - began);
    }
  }

  async #fetch(
    request: WireRequest,
    order: ExecuteTool,
    server: ReachableServer,
    abort: AbortController,
  ): Promise<LocalCallOutcome> {
    // Whatever Tenon says, nothing goes anywhere else.
    if (new URL(request.url).origin !== new URL(server.url).origin) {
      return failed('refused', `${request.url} is not at ${server.url}, which alone is enabled.`);
    }
    const isLate = () => abort.abort(new LateError());
    let late = setTimeout(isLate, order.deadline_ms);
    let told = performance.now();
    const alive = () => {
      if (performance.now() - told < PROGRESS_INTERVAL_MS) return;
      told = performance.now();
      this.around.progress(order.call_id);
      clearTimeout(late);
      late = setTimeout(isLate, order.deadline_ms);
    };
    try {
      const headers = new Headers(request.headers);
      for (const [name, value] of Object.entries(server.headers)) headers.set(name, value);
      const response = await fetch(request.url, {
        method: request.method,
        headers,
        body: request.body && bytes(request.body),
        signal: abort.signal,
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        redirect: 'follow',
      });
      if (isCrossOriginRedirect(request.url, response)) {
        cancelBody(response);
        return failed('refused', `The call was sent on to another address than ${server.url}.`);
      }
      const body = await whole(response, abort, alive);
      return { status: response.status, headers: [...response.headers], body };
    } finally {
      clearTimeout(late);
    }
  }

  async #call(
    order: ExecuteTool,
    server: ReachableServer,
    abort: AbortController,
  ): Promise<LocalCallOutcome> {
    const result = await this.around.mcp.call(server.url, server.headers, {
      tool: order.tool_name,
      args: order.tool_args,
      withinMs: order.deadline_ms,
      signal: abort.signal,
      onprogress: (progress) => this.around.progress(order.call_id, progress),
    });
    if (new Blob([JSON.stringify(result) ?? '']).size > MAX_RESULT_BYTES) throw new TooLongError();
    return { result };
  }

  async #failure(
    error: unknown,
    order: ExecuteTool,
    abort: AbortController,
    afterMs: number,
  ): Promise<LocalCallOutcome> {
    const late = `${order.server_url} gave no answer within ${order.deadline_ms / 1000} s.`;
    if (abort.signal.reason instanceof LateError || isTimeout(error)) {
      return failed('timed_out', late);
    }
    if (error instanceof TooLongError) {
      return failed('failed', `The answer is larger than ${MAX_RESULT_BYTES / 1024 / 1024} MB.`);
    }
    if (error instanceof CutError) {
      return failed('broken', 'The answer was cut off in the middle.');
    }
    if (isRefusal(error)) return failed('failed', error.message);
    this.around.mcp.drop(order.server_url);
    const diagnosis = await this.around.explain(order.server_url);
    if (!diagnosis) {
      return failed(
        'broken',
        `The connection to ${order.server_url} broke in the middle of the call.`,
      );
    }
    const reason = modelMessage(diagnosis, order.server_url);
    if (isForbidden(diagnosis)) return failed('refused', reason);
    // Only one that worked on it for a while can have died over it.
    return failed(afterMs < REFUSED_WITHIN_MS ? 'unreachable' : 'broken', reason);
  }
}

class LateError extends Error {}
class TooLongError extends Error {}
class CutError extends Error {}

/** What an MCP server answered is no failure of the way to it. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ProtocolError';
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
}

function failed(
  kind: 'refused' | 'taken' | 'failed' | 'timed_out' | 'broken' | 'unreachable',
  message: string,
): LocalCallOutcome {
  return { error: { kind, message } };
}

function bytes(body: WireBody): string | Uint8Array<ArrayBuffer> {
  return body.type === 'text'
    ? body.text
    : Uint8Array.from(atob(body.data), (c) => c.charCodeAt(0));
}

async function whole(
  response: Response,
  abort: AbortController,
  alive: () => void,
): Promise<WireBody | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const piece = await reader.read().catch((error: unknown) => {
      throw abort.signal.aborted ? error : new CutError();
    });
    if (piece.done) break;
    alive();
    length += piece.value.length;
    if (length > MAX_RESULT_BYTES) {
      void reader.cancel().catch(() => {});
      throw new TooLongError();
    }
    chunks.push(piece.value);
  }
  if (length === 0) return undefined;
  return written(new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer()));
}

/** As text where it is one that JSON does not make longer than Base64 would: Tenon closes the
    connection over what is too long for it. */
function written(data: Uint8Array<ArrayBuffer>): WireBody {
  const text = escapes(data) <= data.length / 3 ? decoded(data) : undefined;
  if (text !== undefined) return { type: 'text', text };
  let binary = '';
  for (let at = 0; at < data.length; at += 0x8000) {
    binary += String.fromCharCode(...data.subarray(at, at + 0x8000));
  }
  return { type: 'base64', data: btoa(binary) };
}

function decoded(data: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}

/** By how many bytes a text is longer in JSON. */
function escapes(data: Uint8Array): number {
  let more = 0;
  for (const byte of data) {
    // Quotes and backslashes; tabs, lines and the like; and what has only its number.
    if (byte === 0x22 || byte === 0x5c || (byte >= 8 && byte <= 13 && byte !== 11)) more += 1;
    else if (byte < 0x20) more += 5;
  }
  return more;
}
