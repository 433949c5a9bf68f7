import { expect, test } from 'vitest';
import type { Account, AuditView } from '$lib/api/types';
import { language } from '$lib/i18n/language.svelte';
import { settingsEn } from '$lib/i18n/settings/en';
import { actionOf, detailLines, doorOf, logFacts, isOfKind, subjectOf } from './auditLog';

const id = '01a1de6a-a4ab-7551-89a0-552ca806bc00';
const bob = { id: 'u2', name: 'Bob' } as Account;
const clock = { toolId: 'builtin_current_time', displayName: 'Current time' };
const entry = (change: Partial<AuditView>): AuditView => ({
  id: '1',
  at: 0,
  userId: 'u1',
  door: 'page',
  action: 'user.changed',
  subject: 'u2',
  detail: {},
  address: '::1',
  ...change,
});

test('what an entry is about is called by its name', () => {
  const check = (change: Partial<AuditView>, expected: string) =>
    expect(subjectOf(entry(change), { people: [bob], tools: [clock] })).toBe(expected);
  check({}, 'Bob');
  check({ subject: 'u1' }, '');
  check({ subject: 'k1', detail: { name: 'CI' } }, 'CI');
  check({ subject: 'u9', detail: { email: 'gone@example.com' } }, 'gone@example.com');
  check({ subject: 'u9', detail: { name: 7 } }, 'u9');
  check({ subject: id }, '');
  check({ action: 'call.answered', subject: 'builtin_current_time' }, 'Current time');
  check({ subject: 'old_tool', detail: { displayName: 'Old tool' } }, 'Old tool');
  check({ userId: undefined, subject: 'x@example.com' }, 'x@example.com');
});

test('a built-in tool is called as on the rest of the page', async () => {
  const called = entry({
    action: 'tool.called',
    subject: 'builtin_calculate',
    detail: { displayName: 'Math/Calculate' },
  });
  const listed = entry({ action: 'call.answered', subject: 'builtin_calculate' });
  const tools = [{ toolId: 'builtin_calculate', displayName: 'Math/Calculate' }];
  language.use('zh-Hant');
  await language.errorsLoaded;
  expect(subjectOf(called, { people: [], tools: [] })).toBe('數學/計算');
  expect(subjectOf(listed, { people: [], tools })).toBe('數學/計算');
  language.use('en');
  await language.errorsLoaded;
  expect(subjectOf(called, { people: [], tools: [] })).toBe('Math/Calculate');
});

test('details are lines, and nothing is none', () => {
  const detail = { role: 'admin', email: null, scope: { access: 'full' }, name: false };
  expect(detailLines(entry({}))).toEqual([]);
  expect(detailLines(entry({ detail, subject: id, door: 'key:k1' }))).toEqual([
    'role: admin',
    'scope: {"access":"full"}',
    'name: false',
    `id: ${id}`,
    'key: k1',
  ]);
});

test('what an entry came through is one of those that have words, and else in the details', () => {
  const check = (door: string, expected: string, ...lines: string[]) => {
    expect(doorOf(entry({ door }))).toBe(expected);
    expect(detailLines(entry({ door }))).toEqual(lines);
  };
  check('page', 'page');
  check('shell', 'shell');
  check('key:k1', 'key', 'key: k1');
  check('mail:m1', 'other', 'door: mail:m1');
});

test('a call says by which interface it came', () => {
  const check = (detail: Record<string, unknown>, expected: string, door = 'key:k1') =>
    expect(doorOf(entry({ door, detail }))).toBe(expected);
  check({ interface: 'mcp' }, 'mcp');
  check({ interface: 'mcp' }, 'mcp', 'shell');
  check({ interface: 'api' }, 'api');
  check({ interface: 'v1' }, 'v1');
  check({ chatId: id }, 'api');
  check({ chatId: id }, 'page', 'page');
  check({}, 'key');
  check({ interface: 'pigeon' }, 'other');
});

test('what is known has words, and ids have none', () => {
  const check = (change: Partial<AuditView>, ...expected: string[]) =>
    expect(logFacts(entry(change), settingsEn.facts)).toEqual(expected);
  check(
    { detail: { role: 'admin', name: null, password: true, disabled: null } },
    'Admin',
    'new password',
  );
  check({ action: 'tool.called', detail: { callId: id, chatId: id, status: 'failed' } }, 'failed');
  check({ action: 'settings.changed', detail: { signUp: true } }, 'anyone can sign up');
  check({ action: 'key.created', detail: { scope: { access: 'read', allow: [] } } }, 'may read');
  check({ action: 'user.disabled', detail: { disabled: true } });
  check({ detail: { role: 'emperor', constructor: 'x' } });
});

test('who is enabled is said to be, and a failed log-in is no log-in', () => {
  expect(actionOf(entry({ detail: { disabled: false } }))).toBe('user.enabled');
  expect(actionOf(entry({ detail: { role: 'user' } }))).toBe('user.changed');
  const failed = entry({ action: 'login.failed' });
  expect([isOfKind(failed, 'login'), isOfKind(failed, 'login.failed')]).toEqual([false, true]);
});
