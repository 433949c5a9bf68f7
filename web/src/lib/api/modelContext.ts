// What a model would be sent with the next message.
import { request } from './client';
import type { ContextQuery, ContextView } from './types';

export const modelContext = {
  of: (question: ContextQuery) => request<ContextView>('POST', '/api/context', question),
};
