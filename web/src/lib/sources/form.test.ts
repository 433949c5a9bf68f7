import { expect, test } from 'vitest';
import type { SourceDetail, SourceReach } from '$lib/api/types';
import {
  sourceFieldOfError,
  sourceChangeOf,
  emptySourceForm,
  sourceFormOf,
  newSourceOf,
  sourceProblems,
  splitCommand,
  suggest,
  type SourceProblems,
  type SourceForm,
} from './form';

const program = (change: Partial<SourceForm> = {}): SourceForm => ({
  ...emptySourceForm('everybody', 'program'),
  command: 'npx',
  name: 'memory',
  ...change,
});
const address = (change: Partial<SourceForm> = {}): SourceForm => ({
  ...emptySourceForm('everybody', 'address'),
  url: 'https://example.com/mcp',
  name: 'example',
  ...change,
});
const pair = (name: string, value: string, kept = false) => ({ name, value, kept });

const source = { name: 'memory', title: 'Memory', mine: false } as SourceDetail;
const stdio: SourceReach = {
  transport: 'stdio',
  command: 'npx',
  args: ['-y', 'server-memory'],
  env: { FILE: null, MODE: '${MODE}' },
  toolTimeoutsMs: { slow: 90_000 },
  timeoutMs: 1500,
  sleepAfterMs: 300_000,
  startTimeoutMs: 600_000,
};

test('what is wrong is found before the server is asked', () => {
  const check = (form: SourceForm, expected: SourceProblems) =>
    expect(sourceProblems(form)).toEqual(expected);
  check(program(), {});
  check(address(), {});
  check(program({ command: ' ' }), { command: 'missing' });
  check(program({ name: 'my server' }), { name: 'badName' });
  check(program({ name: '' }), { name: 'missing' });
  check(program({ env: [pair('', '')] }), {});
  check(program({ env: [pair('', 'x')] }), { env: 'unnamed' });
  check(program({ env: [pair('A', 'x'), pair('A', 'y')] }), { env: 'twice' });
  check(program({ env: [pair('A', 'x'), pair('a', 'y')] }), {});
  check(address({ headers: [pair('X-A', 'x'), pair('x-a', 'y')] }), { headers: 'twice' });
  check(address({ url: '' }), { url: 'missing' });
  check(address({ url: 'example.com' }), { url: 'notAddress' });
  check(address({ url: '${BASE}/mcp' }), {});
  check(program({ timeout: 'soon', sleepAfter: '0', startTimeout: '-1' }), {
    timeoutMs: 'notDuration',
    sleepAfterMs: 'notDuration',
    startTimeoutMs: 'notDuration',
  });
  check(program({ toolTimeouts: [pair('slow', '')] }), { toolTimeoutsMs: 'notDuration' });
});

test('a new one is told whole, and nothing that belongs to another way', () => {
  const env = [pair('A', '1'), pair('', '')];
  expect(newSourceOf(program({ args: '-y\n server-memory \n', env, url: 'x' }), true)).toEqual({
    kind: 'mcp',
    name: 'memory',
    mine: false,
    trustHints: true,
    transport: 'stdio',
    command: 'npx',
    args: ['-y', 'server-memory'],
    env: { A: '1' },
  });
  expect(newSourceOf(address({ title: 'Ex', timeout: '0.5', sleepAfter: '5' }), true)).toEqual({
    kind: 'mcp',
    name: 'example',
    title: 'Ex',
    mine: false,
    trustHints: true,
    transport: 'http',
    url: 'https://example.com/mcp',
    headers: {},
    timeoutMs: 500,
    sleepAfterMs: 300_000,
  });
});

test('what Tenon is known by where people log in goes with an address', () => {
  const known = { clientId: ' tenon ', clientSecret: 'hidden' };
  expect(newSourceOf(address(known), true)).toMatchObject({
    clientId: 'tenon',
    clientSecret: 'hidden',
  });
  expect(newSourceOf(program(known), true)).not.toHaveProperty('clientId');
  const reach: SourceReach = {
    transport: 'http',
    url: 'https://example.com/mcp',
    headers: {},
    clientId: 'tenon',
    toolTimeoutsMs: {},
  };
  const before = sourceFormOf(source, reach);
  expect([before.clientId, before.clientSecret]).toEqual(['tenon', '']);
  expect(sourceChangeOf({ ...before, title: 'T' }, before)).toEqual({ title: 'T' });
  expect(sourceChangeOf({ ...before, clientId: '' }, before)).toEqual({ clientId: null });
  expect(sourceChangeOf({ ...before, clientSecret: 'new' }, before)).toEqual({
    clientSecret: 'new',
  });
});

test('who may not share adds for themself', () => {
  expect(newSourceOf(address(), false).mine).toBe(true);
  expect(newSourceOf(address({ whose: 'mine' }), true).mine).toBe(true);
});

test('whether a server is trusted is told by an admin, and when it differs', () => {
  expect(newSourceOf(address(), false)).not.toHaveProperty('trustHints');
  expect(newSourceOf(address({ trustHints: false }), true).trustHints).toBe(false);
  const before = sourceFormOf({ ...source, trustHints: false }, stdio);
  expect(sourceChangeOf({ ...before, trustHints: true }, before)).toEqual({ trustHints: true });
});

test('a server that runs once among several is told so', () => {
  expect(newSourceOf(program({ exclusive: true }), true).exclusive).toBe(true);
  expect(newSourceOf(program(), true)).not.toHaveProperty('exclusive');
  const before = sourceFormOf(source, { ...stdio, exclusive: true });
  expect(before.exclusive).toBe(true);
  expect(sourceChangeOf({ ...before, exclusive: false }, before)).toEqual({ exclusive: false });
});

test('a change tells what differs, and keeps what is not shown', () => {
  const before = sourceFormOf(source, stdio);
  expect(before.env).toEqual([pair('FILE', '', true), { ...pair('MODE', '${MODE}'), open: true }]);
  expect([before.timeout, before.sleepAfter]).toEqual(['1.5', '5']);
  expect(sourceChangeOf(before, before)).toEqual({});
  expect(sourceChangeOf({ ...before, args: '-y\nother' }, before)).toEqual({
    args: ['-y', 'other'],
  });
  expect(
    sourceChangeOf({ ...before, env: [pair('FILE', '', true), pair('B', '2')] }, before),
  ).toEqual({
    env: { FILE: null, B: '2' },
  });
  expect(
    sourceChangeOf(
      { ...before, timeout: '', sleepAfter: '', startTimeout: '', toolTimeouts: [] },
      before,
    ),
  ).toEqual({
    timeoutMs: null,
    sleepAfterMs: null,
    startTimeoutMs: null,
    toolTimeoutsMs: {},
  });
  expect(sourceChangeOf({ ...before, title: '' }, before)).toEqual({ title: 'memory' });
});

test('a name is suggested until one is typed', () => {
  const form = program({ name: '', args: '-y\n@modelcontextprotocol/server-memory' });
  expect(suggest(form).name).toBe('memory');
  expect(suggest({ ...form, name: 'mine', nameTyped: true }).name).toBe('mine');
});

test('a whole line is taken apart', () => {
  const check = (command: string, expected: [string, string]) => {
    const form = splitCommand(program({ command }));
    expect([form.command, form.args]).toEqual(expected);
  };
  check('npx -y server "/my files" \'a b\'', ['npx', '-y\nserver\n/my files\na b']);
  check('npx', ['npx', '']);
  check('/opt/my tools/server', ['/opt/my tools/server', '']);
  expect(splitCommand(program({ command: 'a b', args: 'c' })).command).toBe('a b');
});

test('what the server would not have is shown where it was typed', () => {
  const check = (field: string | undefined, expected: string | undefined) =>
    expect(sourceFieldOfError({ code: 'source_text', field })).toBe(expected);
  check('command', 'command');
  check('name', 'name');
  check('sleepAfterMs', 'sleepAfterMs');
  check(undefined, undefined);
  check('mine', undefined);
});
