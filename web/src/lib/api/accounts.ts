// What a person does with their account, and an admin with everybody's.
import { request } from './client';
import type {
  Account,
  AuditView,
  CreatedInvite,
  CreatedKey,
  InviteView,
  KeyView,
  LogOutEverywhere,
  MeChange,
  NewInvite,
  NewKey,
  NewAccount,
  SessionView,
  SettingsView,
  UserChange,
  UserId,
} from './types';

/** Which part of the log is asked for. */
export interface AuditQuery {
  /** Only what is older than this entry. */
  before?: string;
  limit: number;
  action?: string;
  userId?: UserId;
}

export const accounts = {
  changeMe: (change: MeChange) => request<Account>('PATCH', '/api/auth/me', change),
  sessions: () => request<SessionView[]>('GET', '/api/auth/sessions'),
  endSession: (id: string) => request<void>('DELETE', under('/api/auth/sessions', id)),
  logOutEverywhere: (asked: LogOutEverywhere) =>
    request<void>('POST', '/api/auth/logout-everywhere', asked),

  keys: () => request<KeyView[]>('GET', '/api/keys'),
  createKey: (key: NewKey) => request<CreatedKey>('POST', '/api/keys', key),
  deleteKey: (id: string) => request<void>('DELETE', under('/api/keys', id)),

  users: () => request<Account[]>('GET', '/api/users'),
  createUser: (user: NewAccount) => request<Account>('POST', '/api/users', user),
  changeUser: (id: UserId, change: UserChange) =>
    request<Account>('PATCH', under('/api/users', id), change),
  deleteUser: (id: UserId) => request<void>('DELETE', under('/api/users', id)),

  invites: () => request<InviteView[]>('GET', '/api/invites'),
  createInvite: (invite: NewInvite) => request<CreatedInvite>('POST', '/api/invites', invite),
  deleteInvite: (id: string) => request<void>('DELETE', under('/api/invites', id)),

  settings: () => request<SettingsView>('GET', '/api/settings'),
  changeSettings: (settings: SettingsView) =>
    request<SettingsView>('PATCH', '/api/settings', settings),

  audit: (query: AuditQuery) => {
    const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
    const search = new URLSearchParams(asked.map(([name, value]) => [name, String(value)]));
    return request<AuditView[]>('GET', `/api/audit?${search}`);
  },
};

function under(path: string, id: string): string {
  return `${path}/${encodeURIComponent(id)}`;
}
