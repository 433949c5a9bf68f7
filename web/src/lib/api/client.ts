// The server's HTTP door. Every failure comes out as an `ApiError`: either in
// the server's words, made to be shown, or `unreachable`, which the page has
// its own words for.
import type {
  AppInfo,
  ChatChange,
  ChatId,
  ChatSummary,
  ErrorBody,
  StartTurn,
  ToolView,
  TurnId,
  TurnStarted,
} from './types';

export class ApiError extends Error {
  constructor(
    /** The server's own code, or `unreachable` when it did not answer at all. */
    readonly code: string,
    message: string,
    readonly status = 0,
  ) {
    super(message);
  }

  get unreachable(): boolean {
    return this.code === 'unreachable';
  }
}

/** Every call is answered from memory or a local file; what takes longer is not coming. */
const DEADLINE_MS = 15_000;

export const api = {
  info: () => request<AppInfo>('GET', '/api/info'),
  tools: () => request<ToolView[]>('GET', '/api/tools'),
  chats: () => request<ChatSummary[]>('GET', '/api/chats'),
  createChat: () => request<ChatSummary>('POST', '/api/chats', {}),
  changeChat: (id: ChatId, change: ChatChange) => request<void>('PATCH', chatPath(id), change),
  deleteChat: (id: ChatId) => request<void>('DELETE', chatPath(id)),
  startTurn: (id: ChatId, turn: StartTurn) =>
    request<TurnStarted>('POST', `${chatPath(id)}/turns`, turn),
  cancelTurn: (id: TurnId) => request<void>('POST', `/api/turns/${encodeURIComponent(id)}/cancel`),

  /** For a page that is going away: the browser sends this even after it has gone. */
  deleteChatWhileLeaving(id: ChatId): void {
    void fetch(chatPath(id), { method: 'DELETE', keepalive: true }).catch(() => {});
  },
};

export function blobPath(id: string): string {
  return `/api/blobs/${encodeURIComponent(id)}`;
}

function chatPath(id: ChatId): string {
  return `/api/chats/${encodeURIComponent(id)}`;
}

async function request<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    text = await response.text();
  } catch (cause) {
    throw new ApiError('unreachable', String(cause));
  }
  const json = parse(text);
  if (response.ok) return json as Answer;
  const error = (json as Partial<ErrorBody> | undefined)?.error;
  if (error) throw new ApiError(error.code, error.message, response.status);
  // A proxy that cannot reach the server answers in its place, in its own words.
  if (response.status >= 502 && response.status <= 504) {
    throw new ApiError('unreachable', response.statusText, response.status);
  }
  throw new ApiError('unexpected', `${response.status} ${response.statusText}`, response.status);
}

function parse(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
