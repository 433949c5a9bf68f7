// The HTTP client. Every failure is an `ApiError`: the server's error as data, or `unreachable`. A
// 401 also calls the `onUnauthorized` listener.
import { ApiError } from './error';
import { dataOf } from './sse';
import { freshTraceparent } from './traceparent';
import type {
  AnswerForm,
  AppInfo,
  CallId,
  ChatChange,
  ChatId,
  ChatSummary,
  ModelDiscoveryRequest,
  ModelDiscoveryResponse,
  EndpointView,
  EvaluationFrame,
  ErrorBody,
  ExpertView,
  FolderId,
  ModelChange,
  ModelId,
  ModelView,
  NewModel,
  NewShare,
  SearchHit,
  SharedChat,
  ShareView,
  StartTurn,
  TestFrame,
  ToolId,
  ToolsChange,
  ToolView,
  TurnId,
  TurnStarted,
  Verdict,
} from './types';

export { ApiError };

export type ExportFormat = 'json' | 'markdown';

export interface ExportOptions {
  format: ExportFormat;
  /** With what is attached to the messages. Only JSON can hold it. */
  withFiles: boolean;
}

/** Nearly every call is answered from memory or a local file; what takes longer is not coming. */
const REQUEST_TIMEOUT_MS = 15_000;

/** For calls that make the server ask another one, which may be far away. */
const UPSTREAM_TIMEOUT_MS = 60_000;

let refused = () => {};

/** An answer, and where it came from. */
interface TaggedAnswer<Answer> {
  path: string;
  etag: string;
  answer: Answer;
}

/** The list of tools is asked for again with every change; mostly it is still the same. */
let lastTools: TaggedAnswer<ToolView[]> | undefined;

/** Calls back whenever the server does not know who is asking. */
export function onUnauthorized(listener: () => void): void {
  refused = listener;
}

export const api = {
  info: () => request<AppInfo>('GET', '/api/info'),
  /** Without their schemas: thousands of tools have megabytes of them. */
  tools: async (chatId?: ChatId) => {
    const path = withQuery('/api/tools', { chatId, schemas: false });
    lastTools = await requestIfChanged(path, lastTools);
    return lastTools.answer;
  },
  tool: (id: ToolId, chatId?: ChatId) =>
    request<ToolView>('GET', withQuery(`/api/tools/${encodeURIComponent(id)}`, { chatId })),
  changeTools: (change: ToolsChange) => request<void>('PATCH', '/api/tools', change),
  chats: (page: { limit: number; before?: string; archived?: boolean; folder?: FolderId }) =>
    request<ChatSummary[]>('GET', withQuery('/api/chats', page)),
  chat: (id: ChatId) => request<ChatSummary>('GET', chatPath(id)),
  createChat: (chat: ChatChange) => request<ChatSummary>('POST', '/api/chats', chat),
  changeChat: (id: ChatId, change: ChatChange) =>
    request<ChatSummary>('PATCH', chatPath(id), change),
  deleteChat: (id: ChatId) => request<void>('DELETE', chatPath(id)),
  restoreChat: (id: ChatId) => request<ChatSummary>('POST', `${chatPath(id)}/restore`),
  chooseBranch: (id: ChatId, turnId: TurnId) =>
    request<void>('POST', `${chatPath(id)}/branch`, { turnId }),
  search: (q: string, limit: number) =>
    request<SearchHit[]>('GET', withQuery('/api/search', { q, limit })),
  exportChat: (id: ChatId, { format, withFiles }: ExportOptions) =>
    download(withQuery(`${chatPath(id)}/export`, { format, files: withFiles || undefined })),
  importChat: (chat: unknown) =>
    request<ChatSummary>('POST', '/api/chats/import', chat, UPSTREAM_TIMEOUT_MS),
  share: (id: ChatId) => request<ShareView | null>('GET', `${chatPath(id)}/share`),
  makeShare: (id: ChatId, share: NewShare) =>
    request<ShareView>('POST', `${chatPath(id)}/share`, share),
  revokeShare: (id: ChatId) => request<void>('DELETE', `${chatPath(id)}/share`),
  shared: (token: string) => request<SharedChat>('GET', `/api/shared/${encodeURIComponent(token)}`),
  startTurn: (id: ChatId, turn: StartTurn) =>
    request<TurnStarted>('POST', `${chatPath(id)}/turns`, turn, REQUEST_TIMEOUT_MS, undefined, {
      traceparent: freshTraceparent(),
    }),
  cancelTurn: (id: TurnId) => request<void>('POST', `/api/turns/${encodeURIComponent(id)}/cancel`),
  answerCall: (id: CallId, verdict: Verdict) =>
    request<void>('POST', `/api/calls/${encodeURIComponent(id)}/answer`, { verdict }),
  answerForm: (id: CallId, answer: AnswerForm) =>
    request<void>('POST', `/api/calls/${encodeURIComponent(id)}/form`, answer),

  experts: () => request<ExpertView[]>('GET', '/api/experts'),
  models: () => request<ModelView[]>('GET', '/api/models'),
  endpoints: () => request<EndpointView[]>('GET', '/api/endpoints'),
  createModel: (model: NewModel) => request<ModelView>('POST', '/api/models', model),
  changeModel: (id: ModelId, change: ModelChange) => request<void>('PATCH', modelPath(id), change),
  deleteModel: (id: ModelId) => request<void>('DELETE', modelPath(id)),
  discover: (ask: ModelDiscoveryRequest) =>
    request<ModelDiscoveryResponse>('POST', '/api/models/discover', ask, UPSTREAM_TIMEOUT_MS),

  /** Frame by frame, until the model has been tried or the signal says stop. */
  testModel: (id: ModelId, signal: AbortSignal) =>
    frames<TestFrame>(`${modelPath(id)}/test`, { signal }),

  /** Frame by frame, until everything was measured or the signal says stop. */
  evaluateModel: (id: ModelId, signal: AbortSignal) => {
    const headers = { 'content-type': 'application/json' };
    return frames<EvaluationFrame>(`${modelPath(id)}/evaluate`, { signal, headers, body: '{}' });
  },
};

/** The server-sent events that answer a `POST`. */
export async function* frames<T>(path: string, request: RequestInit): AsyncGenerator<T> {
  try {
    const response = await fetch(path, { method: 'POST', ...request });
    if (!response.ok) throw refusal(response, await response.text());
    if (!response.body) return;
    for await (const data of dataOf(response.body)) {
      const frame = parse(data);
      if (frame) yield frame as T;
    }
  } catch (cause) {
    throw cause instanceof ApiError ? cause : ApiError.noAnswer(String(cause));
  }
}

function modelPath(id: ModelId): string {
  return `/api/models/${encodeURIComponent(id)}`;
}

function chatPath(id: ChatId): string {
  return `/api/chats/${encodeURIComponent(id)}`;
}

/** What is not given is not asked for. */
function withQuery(path: string, values: Record<string, string | number | boolean | undefined>) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length > 0 ? `${path}?${query}` : path;
}

async function download(path: string): Promise<Blob> {
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(UPSTREAM_TIMEOUT_MS) });
    if (!response.ok) throw refusal(response, await response.text());
    return await response.blob();
  } catch (cause) {
    throw cause instanceof ApiError ? cause : ApiError.noAnswer(String(cause));
  }
}

export async function request<Answer>(
  method: string,
  path: string,
  body?: unknown,
  deadlineMs = REQUEST_TIMEOUT_MS,
  /** To end it before. */
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const { response, text } = await exchange(path, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
  });
  if (response.ok) return parse(text) as Answer;
  throw refusal(response, text);
}

/** The last answer itself, the same object, where it is still the answer. */
async function requestIfChanged<Answer>(
  path: string,
  last: TaggedAnswer<Answer> | undefined,
): Promise<TaggedAnswer<Answer>> {
  const known = last?.path === path ? last : undefined;
  const { response, text } = await exchange(path, {
    headers: known ? { 'if-none-match': known.etag } : {},
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (known && response.status === 304) return known;
  if (!response.ok) throw refusal(response, text);
  return { path, etag: response.headers.get('etag') ?? '', answer: parse(text) as Answer };
}

async function exchange(path: string, init: RequestInit) {
  try {
    const response = await fetch(path, init);
    return { response, text: await response.text() };
  } catch (cause) {
    throw ApiError.noAnswer(String(cause));
  }
}

/** What of a response tells why a request was refused. */
interface RefusedResponse {
  status: number;
  statusText: string;
  headers: { get(name: string): string | null };
}

export function refusal(response: RefusedResponse, text: string): ApiError {
  const { status, statusText, headers } = response;
  if (status === 401) refused();
  const error = (parse(text) as Partial<ErrorBody> | undefined)?.error;
  const seconds = Number(headers.get('retry-after') ?? NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  if (error) {
    const { code, message, params, field } = error;
    return new ApiError(code, message, status, retryAfterMs, params, field);
  }
  // A proxy that cannot reach the server answers in its place, in its own words.
  if (status >= 502 && status <= 504) return ApiError.noAnswer(statusText, status);
  return new ApiError('unexpected', `${status} ${statusText}`, status);
}

function parse(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
