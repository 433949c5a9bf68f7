// The form, where it is about an OpenAPI server.
import { expect, test } from 'vitest';
import type { SourceDetail, SourcePreview, SourceReach } from '$lib/api/types';
import { nothingTyped } from './credentials';
import {
  blamedField,
  blamedLook,
  changed,
  changeOf,
  emptyForm,
  formOf,
  newSourceOf,
  problemsOf,
  seen,
  type Problems,
  type SourceForm,
} from './form';

const api = (change: Partial<SourceForm> = {}): SourceForm => ({
  ...emptyForm('everybody', 'openapi'),
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
  const check = (form: SourceForm, expected: Problems) =>
    expect(problemsOf(form)).toEqual(expected);
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
  const blank = changed(emptyForm('mine', 'openapi'), { url: 'http://127.0.0.1:8000' });
  expect(blank.name).toBe('server');
  const looked = changed(blank, seen(blank, preview));
  expect([looked.name, looked.credentials.map(({ name }) => name)]).toEqual(['echo', ['key']]);
  const credentials = looked.credentials.map((one) => ({ ...one, secret: 'hush' }));
  const entered = changed(looked, { credentials });
  expect(entered.found).toBe(preview);
  expect(newSourceOf(entered, true).credentials).toEqual({ key: { type: 'key', value: 'hush' } });
  // Another address is another server, but what was typed is not lost.
  const moved = changed(entered, { url: 'http://127.0.0.1:9000' });
  expect([moved.found, moved.name, moved.credentials]).toEqual([undefined, 'server', credentials]);
  expect(changed(looked, { given: 'document' }).credentials).toEqual([]);
  const many = changed(blank, seen(blank, { ...preview, servers: ['time', 'memory'] }));
  expect(many.name).toBe('mcpo');
  const pasted = changed(blank, { given: 'document', document: 'info:\n  title: Pet Store\n' });
  expect(pasted.name).toBe('pet-store');
});

test('a change tells what differs, and keeps what is not shown', () => {
  const before = formOf(source, reach);
  const check = (change: Partial<SourceForm>, expected: object) =>
    expect(changeOf({ ...before, ...change }, before)).toEqual(expected);
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
  const own = formOf(source, { ...reach, url: undefined });
  expect([own.given, own.documentKept, problemsOf(own)]).toEqual(['document', true, {}]);
  expect(changeOf(own, own)).toEqual({});
  const fetched = { ...own, given: 'address' as const, url: 'http://other' };
  expect(changeOf(fetched, own)).toEqual({ url: 'http://other' });
});

test('what the server would not have is shown where it was typed', () => {
  const error = (message: string, code = 'bad_request') => ({ code, message });
  const elsewhere = error(
    'What is kept in `headers` and `credentials` was kept for another address.',
  );
  expect(blamedField(elsewhere, api({ headers: [header] }))).toBe('headers');
  expect(blamedField(elsewhere, formOf(source, { ...reach, headers: {} }))).toBe('credentials');
  expect(blamedField(error('`baseUrl` is no address.'), api())).toBe('baseUrl');
  // It speaks of the document without quoting what the page calls it.
  const broken = error('The document is not valid JSON: line 3, column 7: expected `:`.');
  expect(blamedField(broken, given('{'))).toBe('document');
  expect(blamedField(broken, api())).toBe(undefined);
  expect(blamedField(error('No.', 'forbidden'), given('{'))).toBe(undefined);
});

test('a look that fails is about the document, unless the server says otherwise', () => {
  const check = (message: string, form: SourceForm, expected: string) =>
    expect(blamedLook({ code: 'bad_request', message }, form)).toBe(expected);
  check('No OpenAPI document was found.', api(), 'url');
  check('The document is empty.', given(' '), 'document');
  check('`name` is not a name in it.', given('{}'), 'document');
  check('Not all `headers` can be sent.', api({ headers: [header] }), 'headers');
});
