// The form, where it is about an OpenAPI server.
import { expect, test } from 'vitest';
import type { SourceDetail, SourcePreview, SourceReach } from '$lib/api/types';
import { nothingTyped } from './credentials';
import {
  sourceFieldOfError,
  previewFieldOfError,
  withChange,
  sourceChangeOf,
  emptySourceForm,
  sourceFormOf,
  newSourceOf,
  sourceProblems,
  withPreview,
  type SourceProblems,
  type SourceForm,
} from './form';

const api = (change: Partial<SourceForm> = {}): SourceForm => ({
  ...emptySourceForm('everybody', 'openapi'),
  url: 'http://localhost:8000',
  name: 'echo',
  ...change,
});
const given = (document: string, change: Partial<SourceForm> = {}) =>
  api({ given: 'document', document, ...change });
const header = { name: 'X-Key', value: '', kept: true };

const key = {
  name: 'key',
  kind: { type: 'key' as const, place: 'header', name: 'X-Key' },
  description: '',
};
const preview: SourcePreview = {
  title: 'Echo App',
  version: '1.0',
  tools: [],
  skipped: [],
  schemes: [key],
  servers: [],
  notes: [],
};

const source = {
  name: 'echo',
  title: 'Echo',
  mine: false,
  document: { schemes: [key], skipped: [], servers: [] },
} as unknown as SourceDetail;
const reach: SourceReach = {
  transport: 'openapi',
  url: 'http://localhost:8000/openapi.json',
  baseUrl: 'http://localhost:9000',
  headers: { 'X-Key': null },
  credentials: { key: 'key' },
  toolTimeoutsMs: {},
};

test('what is wrong is found before the server is asked', () => {
  const check = (form: SourceForm, expected: SourceProblems) =>
    expect(sourceProblems(form)).toEqual(expected);
  check(api(), {});
  check(api({ url: '' }), { url: 'missing' });
  check(api({ url: 'localhost' }), { url: 'notAddress' });
  check(api({ baseUrl: 'here' }), { baseUrl: 'notAddress' });
  check(api({ sleepAfter: 'never asked for' }), {});
  check(given(' '), { document: 'missing' });
  check(given('', { url: '' }), { document: 'missing' });
  check(given('{}', { url: '' }), {});
  check(given('', { documentKept: true }), {});
  const half = {
    name: 'key',
    kind: 'key',
    ...nothingTyped,
    stored: true,
    now: 'given',
  } as const;
  check(api({ credentials: [half] }), { credentials: 'half' });
  const lost = {
    ...half,
    kind: 'client',
    who: 'tenon',
    secret: 's3cret',
    tokenUrl: '/token',
  } as const;
  check(api({ credentials: [lost] }), { credentials: 'notAddress' });
  check(api({ credentials: [lost, half] }), { credentials: 'half' });
});

test('a new one is told by its address or by its document, and not by both', () => {
  const whole = {
    ...api({ baseUrl: ' http://x ', document: '{}', timeout: '5', sleepAfter: '5', clientId: 'x' }),
    headers: [{ name: 'A', value: '1', kept: false }, header],
  };
  expect(newSourceOf(whole, true)).toEqual({
    kind: 'openapi',
    name: 'echo',
    mine: false,
    trustHints: true,
    url: 'http://localhost:8000',
    baseUrl: 'http://x',
    headers: { A: '1' },
    credentials: {},
    timeoutMs: 5000,
  });
  expect(newSourceOf(given('openapi: 3.1.0\n'), false)).toEqual({
    kind: 'openapi',
    name: 'echo',
    mine: true,
    document: 'openapi: 3.1.0\n',
    headers: {},
    credentials: {},
  });
});

test('a look asks for what it has found to be needed, and suggests a name', () => {
  const blank = withChange(emptySourceForm('mine', 'openapi'), { url: 'http://127.0.0.1:8000' });
  expect(blank.name).toBe('server');
  const looked = withChange(blank, withPreview(blank, preview));
  expect([looked.name, looked.credentials.map(({ name }) => name)]).toEqual(['echo', ['key']]);
  const credentials = looked.credentials.map((one) => ({ ...one, secret: 'hush' }));
  const entered = withChange(looked, { credentials });
  expect(entered.found).toBe(preview);
  expect(newSourceOf(entered, true).credentials).toEqual({ key: { type: 'key', value: 'hush' } });
  // Another address is another server, but what was typed is not lost.
  const moved = withChange(entered, { url: 'http://127.0.0.1:9000' });
  expect([moved.found, moved.name, moved.credentials]).toEqual([undefined, 'server', credentials]);
  expect(withChange(looked, { given: 'document' }).credentials).toEqual([]);
  const many = withChange(blank, withPreview(blank, { ...preview, servers: ['time', 'memory'] }));
  expect(many.name).toBe('mcpo');
  const pasted = withChange(blank, { given: 'document', document: 'info:\n  title: Pet Store\n' });
  expect(pasted.name).toBe('pet-store');
});

test('a change tells what differs, and keeps what is not shown', () => {
  const before = sourceFormOf(source, reach);
  const check = (change: Partial<SourceForm>, expected: object) =>
    expect(sourceChangeOf({ ...before, ...change }, before)).toEqual(expected);
  expect([before.given, before.baseUrl]).toEqual(['address', 'http://localhost:9000']);
  check({}, {});
  check({ url: 'http://other' }, { url: 'http://other' });
  check({ baseUrl: ' ' }, { baseUrl: null });
  check({ given: 'document', document: '{}' }, { document: '{}' });
  check({ headers: [] }, { headers: {} });
  const [kept] = before.credentials;
  if (!kept) throw new Error('nothing is kept');
  check(
    { credentials: [{ ...kept, now: 'given', secret: 'new' }] },
    {
      credentials: { key: { type: 'key', value: 'new' } },
    },
  );
  check({ credentials: [{ ...kept, now: 'removed' }] }, { credentials: {} });
  const own = sourceFormOf(source, { ...reach, url: undefined });
  expect([own.given, own.documentKept, sourceProblems(own)]).toEqual(['document', true, {}]);
  expect(sourceChangeOf(own, own)).toEqual({});
  const fetched = { ...own, given: 'address' as const, url: 'http://other' };
  expect(sourceChangeOf(fetched, own)).toEqual({ url: 'http://other' });
});

test('what the server would not have is shown where it was typed', () => {
  const elsewhere = { code: 'source_credentials_elsewhere', field: 'headers' };
  expect(sourceFieldOfError(elsewhere, api({ headers: [header] }))).toBe('headers');
  expect(sourceFieldOfError(elsewhere, sourceFormOf(source, { ...reach, headers: {} }))).toBe(
    'credentials',
  );
  expect(sourceFieldOfError({ code: 'source_url', field: 'baseUrl' }, api())).toBe('baseUrl');
  // It is about what the document says, wherever that came from.
  const broken = { code: 'document_syntax' };
  expect(sourceFieldOfError(broken, given('{'))).toBe('document');
  expect(sourceFieldOfError(broken, api())).toBe(undefined);
  expect(sourceFieldOfError({ code: 'admin_only' }, given('{'))).toBe(undefined);
});

test('a look that fails is about the document, unless the server says otherwise', () => {
  const check = (field: string | undefined, form: SourceForm, expected: string) =>
    expect(previewFieldOfError({ code: 'document_timeout', field }, form)).toBe(expected);
  check(undefined, api(), 'url');
  check(undefined, given(' '), 'document');
  check('name', given('{}'), 'document');
  check('headers', api({ headers: [header] }), 'headers');
});
