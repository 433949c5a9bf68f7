// Finds out what runs at an address on this machine: an mcpo and its servers, an OpenAPI server,
// or an MCP server.
import { devices } from '$lib/api/devices';
import type { DiscoveredServer, DiscoveredTools, LocalProtocol } from '$lib/api/types';
import { errorText } from '$lib/i18n/errorText';
import {
  probeText,
  preflight,
  probeResponse,
  diagnosisOfStatus,
  diagnosisOfResponse,
  type ProbeRequest,
  type Diagnosis,
} from './diagnose';
import { isSsePath } from './address';
import { ToolListError, type HeaderMap, type McpClientPool } from './mcp';
import { timeoutSignal, TimeoutError } from './timeouts';
import { willPrompt } from './permission';
import { cancelBody } from './probe';
import {
  hasCapabilities,
  isDescription,
  isObject,
  isEmptyObject,
  parseDescription,
  titleOf,
  type Description,
} from './description';
import { describedInHandshake, describedInStream } from './handshake';

/** An address to check. */
export interface Endpoint {
  url: string;
  kind: 'auto' | 'openapi' | 'mcp';
  headers: HeaderMap;
}

export interface DiscoverOptions {
  mcp: McpClientPool;
  /** The person clicked, so the browser may show a permission prompt. */
  mayAsk: boolean;
  /** Documents whose servers are known to take what pages send: they are not tried again. */
  trusted?: Set<string>;
  signal?: AbortSignal;
  onwaiting?: () => void;
}

/** A server that answers, with what it offers. */
export type ServerWithTools = Omit<DiscoveredServer, 'offered'> & { offered: DiscoveredTools };

export type DiscoverResult = {
  servers: ServerWithTools[];
  /** What is in the way: of all calls, or of some. Also of a server behind an mcpo, by its name. */
  diagnosis?: Diagnosis;
  diagnoses?: { name: string; diagnosis: Diagnosis }[];
};

/** Servers behind an mcpo that are read at the same time. */
const MAX_PARALLEL = 6;
/** Timeout of a whole discovery, not counting a permission prompt. */
const DISCOVERY_TIMEOUT_MS = 10_000;

export async function discover(
  endpoint: Endpoint,
  looking: DiscoverOptions,
): Promise<DiscoverResult> {
  const asking = looking.mayAsk && (await willPrompt(new URL(endpoint.url)));
  const signal = timeoutSignal(DISCOVERY_TIMEOUT_MS, { asking, signal: looking.signal });
  try {
    return await find(endpoint, { ...looking, signal });
  } catch (error) {
    if (signal.reason instanceof TimeoutError)
      return { servers: [], diagnosis: { kind: 'tooSlow' } };
    throw error;
  }
}

async function find(endpoint: Endpoint, looking: DiscoverOptions): Promise<DiscoverResult> {
  const { kind } = endpoint;
  const { pathname } = new URL(endpoint.url);
  if (kind === 'mcp' || (kind === 'auto' && /\/(mcp|sse)\/?$/.test(pathname))) {
    return mcpAt(endpoint, endpoint.url, looking, 'given');
  }
  const asDocument = await documentAt(endpoint, looking);
  if (kind === 'openapi' || asDocument.servers.length > 0) return asDocument;
  // Only one that is there, and is something else, may be an MCP server.
  if (!isOtherServer(asDocument.diagnosis)) return asDocument;
  const seen = [asDocument];
  for (const place of candidateUrls(endpoint.url).slice(1)) {
    const found = await mcpAt(endpoint, place, looking, 'guessed');
    if (found.servers.length > 0 || !isOtherServer(found.diagnosis)) return found;
    seen.push(found);
  }
  const locked = seen.find(({ diagnosis }) => diagnosis?.kind === 'needsKey');
  return locked ?? { servers: [], diagnosis: { kind: 'notToolServer' } };
}

/** Where the servers may be that are found at an address. */
export function candidateUrls(url: string): string[] {
  return [url, siblingUrl(url, 'mcp'), siblingUrl(url, 'sse')];
}

/** Whether a server answers, but not as this kind of server at this path. */
function isOtherServer(diagnosis: Diagnosis | undefined): boolean {
  return (
    diagnosis !== undefined && ['wrongPath', 'notToolServer', 'needsKey'].includes(diagnosis.kind)
  );
}

async function documentAt(endpoint: Endpoint, looking: DiscoverOptions): Promise<DiscoverResult> {
  const url = documentAddress(endpoint.url);
  const reply = await probeText({ ...looking, url, headers: endpoint.headers });
  if ('diagnosis' in reply) return { servers: [], diagnosis: reply.diagnosis };
  const { text } = reply;
  const main = parseDescription(text);
  if (!isDescription(main, text)) return { servers: [], diagnosis: { kind: 'notToolServer' } };
  if (main && !hasCapabilities(main) && isEmptyObject(main.paths))
    return serversBehind(endpoint, url, main, looking);
  const title = titleOf(main);
  const isMcpo = main && !hasCapabilities(main) && isOfMcpo(main);
  const via = isMcpo ? 'mcpo' : 'openapi';
  const offered: DiscoveredTools = { type: 'openapi', document: text, url };
  return {
    servers: [await server(endpoint, '', title, via, offered)],
    diagnosis: await diagnosisOfCalls({ ...looking, url, headers: endpoint.headers }, main),
  };
}

/** Problems that calls will have although the document can be read. */
async function diagnosisOfCalls(
  question: ProbeRequest & Pick<DiscoverOptions, 'trusted'>,
  main: Description | undefined,
): Promise<Diagnosis | undefined> {
  const operations = operationsOf(main);
  const hasKey = Object.keys(question.headers).length > 0;
  if (!hasKey && operations.length > 0 && operations.every(wantsKey(main))) {
    return { kind: 'needsKey', given: false, status: 401 };
  }
  const sends = operations.some(({ method }) => method !== 'get' && method !== 'head');
  const { url, trusted } = question;
  if (!sends || trusted?.has(url)) return undefined;
  // Only by sending something can a page see whether it may. Nobody takes anything at this address.
  const diagnosis = await preflight(question, 'POST');
  if (!diagnosis) trusted?.add(url);
  return diagnosis;
}

/** The servers behind an mcpo, each checked by itself, so that one failure does not affect the
    others. */
async function serversBehind(
  endpoint: Endpoint,
  url: string,
  main: Description,
  looking: DiscoverOptions,
): Promise<DiscoverResult> {
  let subs;
  try {
    subs = await devices.behind({ url, document: main });
  } catch (error) {
    return { servers: [], diagnosis: { kind: 'hub', why: errorText(error) } };
  }
  if (subs.length === 0) return { servers: [], diagnosis: { kind: 'notToolServer' } };
  const servers: ServerWithTools[] = [];
  const diagnoses: { name: string; diagnosis: Diagnosis }[] = [];
  let ofCalls: Diagnosis | undefined;
  const waiting = [...subs];
  const work = async () => {
    for (let sub = waiting.shift(); sub; sub = waiting.shift()) {
      const { name } = sub;
      // The key is for this server alone.
      if (new URL(sub.url).origin !== new URL(endpoint.url).origin) {
        diagnoses.push({ name, diagnosis: { kind: 'notToolServer' } });
        continue;
      }
      const question = { ...looking, mayAsk: false, url: sub.url, headers: endpoint.headers };
      const reply = await probeText(question);
      if ('diagnosis' in reply) {
        diagnoses.push({ name, diagnosis: reply.diagnosis });
        continue;
      }
      const offered: DiscoveredTools = { type: 'openapi', document: reply.text, url: sub.url };
      const main = parseDescription(reply.text);
      servers.push(await server(endpoint, name, titleOf(main), 'mcpo', offered));
      // They all have the same mcpo before them.
      if (servers.length === 1) ofCalls = await diagnosisOfCalls(question, main);
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, subs.length) }, work));
  const order = new Map(subs.map(({ name }, place) => [name, place]));
  servers.sort((a, b) => (order.get(a.name ?? '') ?? 0) - (order.get(b.name ?? '') ?? 0));
  return { servers, diagnoses, diagnosis: servers.length > 0 ? ofCalls : diagnoses[0]?.diagnosis };
}

/** Whether the person configured an MCP address, or it is a guess. */
type Place = 'given' | 'guessed';

async function mcpAt(
  endpoint: Endpoint,
  url: string,
  looking: DiscoverOptions,
  place: Place,
): Promise<DiscoverResult> {
  const question = { ...looking, url, headers: endpoint.headers };
  if (await willPrompt(new URL(url))) {
    // The client would make the browser ask as well, and not wait for the answer.
    const reached = await probeResponse(question);
    if ('diagnosis' in reached) return { servers: [], diagnosis: reached.diagnosis };
    cancelBody(reached.response);
  }
  try {
    const { title, tools } = await looking.mcp.list(url, endpoint.headers, looking.signal);
    const found = await server({ ...endpoint, url }, '', title, 'mcp', { type: 'mcp', tools });
    return { servers: [found] };
  } catch (error) {
    const described = await describedInstead(error, question);
    if (described) {
      const offered: DiscoveredTools = { type: 'openapi', document: described.text, url };
      const { title } = described;
      return { servers: [await server({ ...endpoint, url }, '', title, 'openapi', offered)] };
    }
    return { servers: [], diagnosis: await mcpDiagnosis(error, question, place) };
  }
}

/** Tools that a server describes in its handshake, where a client failed with it. */
async function describedInstead(error: unknown, question: ProbeRequest) {
  // Its handshake was as it should be.
  if (error instanceof ToolListError) return undefined;
  const isSse = isSsePath(new URL(question.url));
  // Over SSE a client waits for an answer that never comes.
  if (isTimeout(error)) return isSse ? describedInStream(question) : undefined;
  return isSse || isAnswer(error) ? describedInHandshake(question) : undefined;
}

/** Whether the server answered a client, though not as MCP says. */
function isAnswer(error: unknown): boolean {
  const why = error instanceof Error ? error.message : '';
  return httpErrorOf(error).status === undefined && !isOpaqueError(why);
}

/** What an MCP client says with every request after the first. */
const MCP_HEADERS = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'none' };

/** Why an MCP server cannot be used. */
async function mcpDiagnosis(
  error: unknown,
  question: ProbeRequest,
  place: Place,
): Promise<Diagnosis> {
  if (isTimeout(error)) return { kind: 'tooSlow' };
  if (error instanceof ToolListError) return { kind: 'badHandshake', why: 'tools/list' };
  const why = error instanceof Error ? error.message.slice(0, 300) : '';
  const isSpoken = error instanceof Error && error.name === 'ProtocolError';
  if (isSpoken) return { kind: 'badHandshake', why };
  const { status = 0, text } = httpErrorOf(error);
  if ([401, 403, 404].includes(status)) return diagnosisOfStatus(status, text ?? '', question);
  // A client that cannot read the session id cannot send it back.
  if (/jsonrpc.*(session|not initialized)/i.test(why)) {
    return { kind: 'hiddenHeader', header: 'mcp-session-id' };
  }

  // Perhaps a page cannot talk to it at all.
  const reached = await probeResponse(question);
  if ('diagnosis' in reached) return reached.diagnosis;
  const { response } = reached;
  const refused = await diagnosisOfResponse(response, question);
  // To a GET without a session it may well say no.
  if (refused && (refused.kind !== 'wrongPath' || refused.status === 404)) return refused;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  cancelBody(response);
  if (place === 'guessed' && !refused && !isStream) return { kind: 'notToolServer' };
  if (isOpaqueError(why)) {
    const headers = { ...question.headers, ...MCP_HEADERS };
    const diagnosis = await preflight({ ...question, headers }, 'POST');
    if (diagnosis) return diagnosis;
  }
  return place === 'given' ? { kind: 'badHandshake', why } : { kind: 'notToolServer' };
}

/** Status and body of a failed HTTP response, as the client reports them. */
function httpErrorOf(error: unknown): { status?: number; text?: string } {
  const { data } = error as { data?: { status?: number; text?: string } };
  return data ?? {};
}

/** A network error without details, as each browser words it. */
function isOpaqueError(why: string): boolean {
  return /failed to fetch|networkerror|load failed/i.test(why);
}

/** As we say it, or as the client does. */
function isTimeout(error: unknown): boolean {
  if (error instanceof TimeoutError) return true;
  return error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
}

async function server(
  endpoint: Pick<Endpoint, 'url'>,
  name: string,
  title: string,
  via: LocalProtocol,
  offered: DiscoveredTools,
): Promise<ServerWithTools> {
  const text = JSON.stringify(offered);
  return { url: endpoint.url, name, title, via, hash: await hash(text), offered };
}

interface Operation {
  method: string;
  operationId?: unknown;
  security?: unknown;
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

function operationsOf(main: Description | undefined): Operation[] {
  return Object.values(main?.paths ?? {}).flatMap((path: unknown) =>
    Object.entries(isObject(path) ? path : {})
      .filter(([method, operation]) => METHODS.includes(method) && isObject(operation))
      .map(([method, operation]) => ({ ...(operation as Operation), method })),
  );
}

/** Whether it can be called only with a key; one that says nothing is like the whole. */
function wantsKey(main: Description | undefined): (operation: Operation) => boolean {
  return ({ security = main?.security }) =>
    Array.isArray(security) &&
    security.length > 0 &&
    security.every((way: unknown) => !isEmptyObject(way));
}

/** An mcpo with one server looks like any other; its operations do not. */
function isOfMcpo(main: Description): boolean {
  return operationsOf(main).every(
    ({ method, operationId }) => method === 'post' && /^tool_.*_post$/.test(String(operationId)),
  );
}

function documentAddress(url: string): string {
  const { pathname } = new URL(url);
  return /\.(json|ya?ml)$/.test(pathname) ? url : siblingUrl(url, 'openapi.json');
}

function siblingUrl(url: string, name: string): string {
  const base = new URL(url);
  base.search = '';
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return new URL(name, base).href;
}

async function hash(text: string): Promise<string> {
  // Pages over plain http have no such thing; there a weaker one does.
  const bytes = new TextEncoder().encode(text);
  if (!crypto.subtle) return `${bytes.length}-${fnv(bytes)}`;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fnv(bytes: Uint8Array): string {
  let state = 0xcbf29ce484222325n;
  for (const byte of bytes) state = BigInt.asUintN(64, (state ^ BigInt(byte)) * 0x100000001b3n);
  return state.toString(16);
}
