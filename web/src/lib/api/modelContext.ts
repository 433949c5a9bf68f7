// What a model would be sent with the next message.
import { request } from './client';
import type { ChatId, ErrorDetail, ExpertId, ModelId, ToolId } from './types';

/** Which message that is: of a chat, or the first of a new one. */
export interface ContextQuestion {
  chatId?: ChatId;
  expertId?: ExpertId;
  modelId?: ModelId;
}

export interface ModelContext {
  /** How many tools it is offered. */
  tools: number;
  toolTokens?: number;
  /** Tools that are on and that it is not offered. */
  leftOut: { toolId: ToolId; why: ErrorDetail }[];
}

export const modelContext = {
  of: (question: ContextQuestion) => request<ModelContext>('POST', '/api/context', question),
};
