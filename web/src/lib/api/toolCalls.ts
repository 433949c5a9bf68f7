// Calls of tools that a person makes themself.
import { request } from './client';
import type { CallId, CallStatus, CallToolAnswer, ChatId, ToolId } from './types';

/** A call that was made, in a chat or outside. */
export interface PastCall {
  callId: CallId;
  chatId?: ChatId;
  at: number;
  status: CallStatus;
  durationMs?: number;
  /** Outside a chat: "page", "shell", or "key:" and the key's id. */
  door: string;
}

/** The server has a deadline of its own for each tool, and every one of them is shorter. */
const CALL_TIMEOUT_MS = 3_600_000;

const RECENT_CALLS = 10;

export const toolCalls = {
  /** Those of this person, the newest first. */
  recent: (toolId: ToolId) => {
    const query = new URLSearchParams({ toolId, limit: String(RECENT_CALLS) });
    return request<PastCall[]>('GET', `/api/calls?${query}`);
  },

  /** What went wrong in the tool is part of the answer. */
  call: (id: ToolId, input: unknown, signal: AbortSignal) =>
    request<CallToolAnswer>(
      'POST',
      `/api/tools/${encodeURIComponent(id)}/call`,
      { arguments: input },
      CALL_TIMEOUT_MS,
      signal,
    ),
};
