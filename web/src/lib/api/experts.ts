// Experts and prompts.
import { api, request } from './client';
import type {
  ExpertChange,
  ExpertFile,
  ExpertId,
  ExpertView,
  FilledPrompt,
  FillPrompt,
  NewPrompt,
  PromptChange,
  PromptId,
  PromptView,
  ServerPromptView,
} from './types';

/** For calls that make the server ask another one. */
const UPSTREAM_TIMEOUT_MS = 60_000;

export const experts = {
  all: api.experts,
  add: (expert: ExpertChange) => request<ExpertView>('POST', '/api/experts', expert),
  change: (id: ExpertId, change: ExpertChange) =>
    request<ExpertView>('PATCH', expertPath(id), change),
  copy: (id: ExpertId) => request<ExpertView>('POST', `${expertPath(id)}/copy`),
  remove: (id: ExpertId) => request<void>('DELETE', expertPath(id)),
  exported: (id: ExpertId) => request<ExpertFile>('GET', `${expertPath(id)}/file`),
  /** Adds it, or changes one's own of the same name. */
  imported: (file: ExpertFile) => request<ExpertView>('POST', '/api/experts/file', file),
};

export const prompts = {
  all: () => request<PromptView[]>('GET', '/api/prompts'),
  add: (prompt: NewPrompt) => request<PromptView>('POST', '/api/prompts', prompt),
  change: (id: PromptId, change: PromptChange) =>
    request<PromptView>('PATCH', promptPath(id), change),
  remove: (id: PromptId) => request<void>('DELETE', promptPath(id)),
  /** Those of tool servers. */
  offered: () =>
    request<ServerPromptView[]>('GET', '/api/prompts/servers', undefined, UPSTREAM_TIMEOUT_MS),
  fill: (prompt: FillPrompt) =>
    request<FilledPrompt>('POST', '/api/prompts/servers', prompt, UPSTREAM_TIMEOUT_MS),
};

function expertPath(id: ExpertId): string {
  return `/api/experts/${encodeURIComponent(id)}`;
}

function promptPath(id: PromptId): string {
  return `/api/prompts/${encodeURIComponent(id)}`;
}
