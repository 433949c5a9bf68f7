import { expect, test } from 'vitest';
import { ApiError } from '$lib/api/client';
import type { SourceDetail } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { sourcesEn } from '$lib/i18n/sources/en';
import { sourceFacts, isBetter, isSameFailure, needOf } from './facts';

const source = (change: object): SourceDetail =>
  ({
    state: 'ready',
    tools: 9,
    enabled: true,
    unset: [],
    restarts: 0,
    origin: { kind: 'added' },
    ...change,
  }) as unknown as SourceDetail;

test('a server is told of in a line', () => {
  const check = (change: object, expected: string) =>
    expect(sourceFacts(source(change), sourcesEn, en).line.join(' · ')).toBe(expected);
  check({}, 'Ready · 9 tools');
  check({ reach: { transport: 'stdio' } }, 'Ready · 9 tools · program');
  check({ state: 'starting', tools: 0 }, 'Starting…');
  check({ state: 'starting', tools: 1 }, 'Starting… · 1 tool');
  check({ state: 'sleeping' }, 'Sleeping · 9 tools · The next call wakes it.');
  check({ origin: { kind: 'file', file: 'a.json' } }, 'Ready · 9 tools · from the file a.json');
  check(
    { origin: { kind: 'file', file: 'TOOL_SERVER_CONNECTIONS' } },
    'Ready · 9 tools · from the variable TOOL_SERVER_CONNECTIONS',
  );
  check({ login: 'needed', state: 'failed', tools: 0 }, 'Log-in required');
  check({ login: 'connected' }, 'Ready · 9 tools · logged in');
  check({ trustHints: true }, 'Ready · 9 tools · read-only tools run without asking');
});

test('what is known of it beyond that stands with its log', () => {
  const check = (change: object, expected: string) =>
    expect(sourceFacts(source(change), sourcesEn, en).about).toBe(expected);
  check({}, '');
  check(
    { server: { name: 'memory', version: '0.6', protocol: '2025-11-25' }, pid: 7, restarts: 1 },
    'memory 0.6 · MCP 2025-11-25 · process 7 · restarted once',
  );
  check({ origin: { kind: 'file', file: 'a.json' } }, 'Change it in that file.');
  check(
    { origin: { kind: 'file', file: 'TOOL_SERVER_CONNECTIONS' } },
    'Change it in that variable, which is read when Tenon starts.',
  );
});

test('what it needs from a person is asked for while it is on', () => {
  const check = (change: object, expected: string | undefined) =>
    expect(needOf(source(change))).toBe(expected);
  check({}, undefined);
  check({ login: 'connected' }, undefined);
  check({ unset: ['TOKEN'] }, undefined);
  check({ login: 'needed' }, 'login');
  check({ login: 'needed', unset: ['user.TOKEN'] }, 'secrets');
  check({ unset: ['user.TOKEN'], enabled: false }, undefined);
});

test('a server that came up or was switched off stands better than one that fails', () => {
  const check = (before: SourceDetail['state'], now: SourceDetail['state'], expected: boolean) =>
    expect(isBetter(now, before)).toBe(expected);
  check('failed', 'ready', true);
  check('degraded', 'ready', true);
  check('failed', 'degraded', true);
  check('ready', 'off', true);
  check('ready', 'ready', false);
  check('ready', 'sleeping', false);
  check('ready', 'degraded', false);
  check('degraded', 'failed', false);
});

test('a failure that the state tells of is known by its code and parameters', () => {
  const why = { code: 'server_gone', message: 'a is gone.', params: { host: 'a' } };
  const failed = source({ state: 'failed', why });
  const check = (error: unknown, expected: boolean, of = failed) =>
    expect(isSameFailure(error, of)).toBe(expected);
  check(ApiError.of({ ...why, message: 'In other words.' }), true);
  check(ApiError.of({ ...why, params: { host: 'b' } }), false);
  check(new Error(why.message), false);
  check(ApiError.of(why), false, source({}));
});
