// Calls of tools that a person makes themself.
import { request } from './client';
import type { CallToolAnswer, ToolId } from './types';

/** The server has a deadline of its own for each tool, and every one of them is shorter. */
const CALL_TIMEOUT_MS = 3_600_000;

export const toolCalls = {
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
