// How turns went, the last calls of a tool, and what all of it takes.
import { request } from './client';
import type {
  CallId,
  ModelCallId,
  ModelRequestView,
  RecentCallView,
  StatsRange,
  StatsView,
  ToolCallTrace,
  ToolId,
  TurnId,
  TurnTrace,
} from './types';

/** Counting a month of calls takes a large database a while. */
const STATS_TIMEOUT_MS = 60_000;

export const traces = {
  ofTurn: (id: TurnId) => request<TurnTrace>('GET', `/api/turns/${encodeURIComponent(id)}/trace`),
  ofCall: (id: CallId) => request<ToolCallTrace>('GET', `/api/calls/${encodeURIComponent(id)}`),
  modelRequest: (id: ModelCallId) =>
    request<ModelRequestView>('GET', `/api/model-calls/${encodeURIComponent(id)}`),
  recentCalls: (toolId: ToolId, limit: number) => {
    const query = new URLSearchParams({ toolId, limit: String(limit) });
    return request<RecentCallView[]>('GET', `/api/calls?${query}`);
  },
  stats: (range: StatsRange) =>
    request<StatsView>('GET', `/api/stats?range=${range}`, undefined, STATS_TIMEOUT_MS),
};
