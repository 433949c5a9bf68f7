// The log, as it is read: what each entry is about, and in which kinds they come.
import type { Account, AuditView, ToolView } from '$lib/api/types';
import { toolName } from '$lib/i18n/toolName';

/** What the log can be narrowed to: how its actions begin. */
export const logKinds = [
  'login',
  'login.failed',
  'logout',
  'sign-up',
  'user.',
  'invite.',
  'key.',
  'settings.',
  'model.',
  'tool',
  'call.',
  'share.',
  'chat.',
  'backup.',
] as const;

export type LogKind = (typeof logKinds)[number];

/** How many entries are asked for at once. */
export const LOG_PAGE_SIZE = 50;

/** Whether an entry that begins like a kind is of it: a log-in that failed is none. */
export function isOfKind({ action }: AuditView, kind: string): boolean {
  return !(kind === 'login' && action === 'login.failed');
}

/** Who and what the ids in the log stand for. */
export interface LogNames {
  people: readonly Account[];
  tools: readonly Pick<ToolView, 'toolId' | 'displayName'>[];
}

/** Ids mean nothing to a reader. */
const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** What was done. Whoever enables an account changes it, and does just that. */
export function actionOf({ action, detail }: AuditView): string {
  return action === 'user.changed' && detail.disabled === false ? 'user.enabled' : action;
}

/** What it was done to, by a name where one is known. Nothing where that is who did it. */
export function subjectOf(entry: AuditView, { people, tools }: LogNames): string {
  if (entry.subject === entry.userId) return '';
  const { displayName, name, email } = entry.detail;
  const person = people.find(({ id }) => id === entry.subject);
  const tool = tools.find(({ toolId }) => toolId === entry.subject);
  const isName = (text: unknown): text is string => typeof text === 'string' && text !== '';
  const called = [displayName, tool?.displayName].find(isName);
  if (called !== undefined) return toolName(called, entry.subject);
  const named = [name, email, person?.name].find(isName);
  if (named !== undefined) return named;
  return isId(entry.subject) ? '' : entry.subject;
}

const doors = ['page', 'shell', 'key', 'api', 'v1', 'mcp', 'mcpo'] as const;

export type LogDoor = (typeof doors)[number] | 'other';

/** What it was done through: the interface, where that was noted. Keys have ids of their own. */
export function doorOf({ door, detail }: AuditView): LogDoor {
  const [credential] = door.split(':');
  // What runs in a chat was begun over the API.
  const inChat = credential === 'key' && 'chatId' in detail ? 'api' : credential;
  const name = detail.interface ?? inChat;
  return doors.find((known) => known === name) ?? 'other';
}

/** What is known about it and has words: `words` are those of a value, by the value's name. */
export function logFacts(
  { action, detail }: AuditView,
  words: Record<string, Record<string, string>>,
): string[] {
  const { scope, ...rest } = detail;
  const access = (scope as { access?: unknown } | null | undefined)?.access;
  return Object.entries({ ...rest, access }).flatMap(([name, value]) => {
    // The action has said it.
    if (name === 'disabled' && action.startsWith('user.')) return [];
    // The status says it, and more.
    if (name === 'ok' && 'status' in detail) return [];
    const word = words[name]?.[String(value)];
    return word ? [word] : [];
  });
}

/** All that is known about it, in lines, as the server has it. */
export function detailLines(entry: AuditView): string[] {
  const { detail, door, subject } = entry;
  const isKnownDoor = doorOf(entry) !== 'other';
  const ids = {
    id: isId(subject) || 'displayName' in detail ? subject : '',
    key: isKnownDoor ? door.split(':')[1] : '',
    door: isKnownDoor ? '' : door,
  };
  return Object.entries({ ...detail, ...ids })
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(
      ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
}
