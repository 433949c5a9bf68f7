// Where tools come from: the servers, what is imported, and the secrets they are started with.
import { request } from './client';
import type {
  DocumentChange,
  ImportedSource,
  ImportSources,
  LoginStart,
  LogLine,
  NewSecret,
  AddSource,
  SecretView,
  SourceChange,
  SourceDetail,
  SourceId,
  SourcePreview,
} from './types';

/** For calls that make the server ask another one, or end a process that takes its time. */
const UPSTREAM_TIMEOUT_MS = 60_000;

export const sources = {
  all: () => request<SourceDetail[]>('GET', '/api/sources'),
  add: (source: AddSource) =>
    request<SourceDetail>('POST', '/api/sources', source, UPSTREAM_TIMEOUT_MS),
  /** What a server would offer, before it is saved. */
  preview: (source: AddSource) =>
    request<SourcePreview>('POST', '/api/sources/preview', source, UPSTREAM_TIMEOUT_MS),
  change: (id: SourceId, change: SourceChange) =>
    request<SourceDetail>('PATCH', pathOf(id), change, UPSTREAM_TIMEOUT_MS),
  remove: (id: SourceId) => request<void>('DELETE', pathOf(id), undefined, UPSTREAM_TIMEOUT_MS),
  restart: (id: SourceId) =>
    request<void>('POST', `${pathOf(id)}/restart`, undefined, UPSTREAM_TIMEOUT_MS),
  /** Reads its document again. */
  refresh: (id: SourceId) =>
    request<DocumentChange>('POST', `${pathOf(id)}/refresh`, undefined, UPSTREAM_TIMEOUT_MS),
  logs: (id: SourceId) => request<LogLine[]>('GET', `${pathOf(id)}/logs`),
  import: (asked: ImportSources) =>
    request<ImportedSource[]>('POST', '/api/sources/import', asked, UPSTREAM_TIMEOUT_MS),
  logIn: (id: SourceId) =>
    request<LoginStart>('POST', `${pathOf(id)}/login`, undefined, UPSTREAM_TIMEOUT_MS),
  logOut: (id: SourceId) =>
    request<void>('DELETE', `${pathOf(id)}/login`, undefined, UPSTREAM_TIMEOUT_MS),
};

export const secrets = {
  all: () => request<SecretView[]>('GET', '/api/secrets'),
  set: (name: string, secret: NewSecret) => request<void>('PUT', secretPath(name), secret),
  remove: (name: string, mine: boolean) =>
    request<void>('DELETE', `${secretPath(name)}?mine=${mine}`),
};

function pathOf(id: SourceId): string {
  return `/api/sources/${encodeURIComponent(id)}`;
}

function secretPath(name: string): string {
  return `/api/secrets/${encodeURIComponent(name)}`;
}
