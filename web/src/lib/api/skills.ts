// Skills, and tools that are written in the page.
import { frames, request } from './client';
import type {
  CreateEvent,
  ModuleCode,
  ModuleView,
  NewModule,
  SandboxView,
  SkillChange,
  SkillDetail,
  SkillFileView,
  SkillInput,
  SkillInstall,
  SkillPreview,
  SkillView,
  SourceId,
  TryEvent,
  TryModule,
} from './types';

/** For calls that read archives or start a program. */
const PROGRAM_TIMEOUT_MS = 60_000;

export const skills = {
  all: () => request<SkillView[]>('GET', '/api/skills'),
  /** Nothing is changed by it. */
  preview: (input: SkillInput) =>
    request<SkillPreview>('POST', '/api/skills/preview', input, PROGRAM_TIMEOUT_MS),
  install: (install: SkillInstall) =>
    request<SkillView[]>('POST', '/api/skills', install, PROGRAM_TIMEOUT_MS),
  one: (id: SourceId) => request<SkillDetail>('GET', pathOf(id)),
  change: (id: SourceId, change: SkillChange) =>
    request<SkillDetail>('PATCH', pathOf(id), change, PROGRAM_TIMEOUT_MS),
  remove: (id: SourceId) => request<void>('DELETE', pathOf(id), undefined, PROGRAM_TIMEOUT_MS),
  file: (id: SourceId, path: string) =>
    request<SkillFileView>('GET', `${pathOf(id)}/file?${new URLSearchParams({ path })}`),
  /** Makes that version the current one. */
  use: (id: SourceId, hash: string) =>
    request<SkillDetail>('POST', `${pathOf(id)}/version`, { hash }, PROGRAM_TIMEOUT_MS),
  sandbox: () => request<SandboxView>('GET', '/api/skills/sandbox'),
};

export const modules = {
  describe: (module: ModuleCode) =>
    request<ModuleView>('POST', '/api/tools/describe', module, PROGRAM_TIMEOUT_MS),
  /** Frame by frame, until it is saved or the signal says stop: packages may take minutes. */
  create: (module: NewModule, signal: AbortSignal) =>
    framesFor<CreateEvent>('/api/tools/create/stream', module, signal),
  /** Frame by frame, until it is over or the signal says stop. */
  try: (trial: TryModule, signal: AbortSignal) =>
    framesFor<TryEvent>('/api/tools/try', trial, signal),
};

function framesFor<Event>(path: string, body: unknown, signal: AbortSignal) {
  const headers = { 'content-type': 'application/json' };
  return frames<Event>(path, { signal, headers, body: JSON.stringify(body) });
}

function pathOf(id: SourceId): string {
  return `/api/skills/${encodeURIComponent(id)}`;
}
