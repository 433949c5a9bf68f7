import { expect, test } from 'vitest';
import type { LocalEndpoint } from '$lib/api/types';
import type { Diagnosis } from './diagnose';
import { DEFAULT_URL } from './endpoints.svelte';
import type { EndpointStatus } from './endpointStatus';
import { overviewOf } from './overview';
import { alternativeUrl, endpointName } from './endpointState';

const endpoint = (url: string, more: Partial<LocalEndpoint> = {}): LocalEndpoint => ({
  url,
  name: '',
  kind: 'auto',
  enabled: true,
  ...more,
});
const withDiagnosis = (kind: Diagnosis['kind']): EndpointStatus => ({
  state: 'trouble',
  servers: [],
  tools: 0,
  diagnoses: [{ name: '', diagnosis: { kind } as Diagnosis }],
  notes: [],
});
const found: EndpointStatus = { state: 'found', servers: [], tools: 3, diagnoses: [], notes: [] };
const look = (...all: [LocalEndpoint, EndpointStatus][]) =>
  overviewOf({
    endpoints: { all: all.map(([endpoint]) => endpoint) },
    statusOf: (asked) => all.find(([one]) => one === asked)?.[1] as EndpointStatus,
  });

test('nobody at the address that nobody chose is nothing to speak of', () => {
  const check = (
    endpoint: LocalEndpoint,
    status: EndpointStatus,
    nothing: boolean,
    problems: number,
  ) => {
    const seen = look([endpoint, status]);
    expect([seen.nothing, seen.problems]).toEqual([nothing, problems]);
  };
  check(endpoint(DEFAULT_URL), withDiagnosis('notRunningOrNotHttp'), true, 0);
  check(endpoint(DEFAULT_URL), withDiagnosis('notRunning'), true, 0);
  check(endpoint(DEFAULT_URL, { name: 'Mine' }), withDiagnosis('notRunning'), false, 1);
  check(endpoint(DEFAULT_URL), withDiagnosis('cors'), false, 1);
  check(endpoint('http://localhost:8001'), withDiagnosis('notRunning'), false, 1);
  expect(look().nothing).toBe(true);
});

test('one whose tools are still listed is missed, at whatever address', () => {
  const gone = endpoint(DEFAULT_URL);
  const seen = overviewOf({
    endpoints: { all: [gone] },
    statusOf: () => withDiagnosis('notRunning'),
    lastSeen: ({ url }) => (url === DEFAULT_URL ? 11 : 0),
  });
  expect([seen.nothing, seen.problems]).toEqual([false, 1]);
});

test('what the browser forbids is no problem of an address', () => {
  const denied = withDiagnosis('permissionDenied');
  const seen = look([endpoint(DEFAULT_URL), denied], [endpoint('http://localhost:1'), denied]);
  expect(seen.forbidden).toEqual({ kind: 'permissionDenied' });
  expect([seen.nothing, seen.problems]).toEqual([false, 0]);
});

test('tools are summed, and addresses in trouble counted', () => {
  const seen = look(
    [endpoint('http://localhost:1'), found],
    [endpoint('http://localhost:2'), found],
    [endpoint('http://localhost:3'), withDiagnosis('cors')],
    [endpoint('http://localhost:4', { enabled: false }), withDiagnosis('cors')],
  );
  expect([seen.tools, seen.problems, seen.nothing]).toEqual([6, 1, false]);
});

test('an address is called by its name, else by what tells it apart', () => {
  const check = (url: string, expected: string) =>
    expect(endpointName({ url, name: '' })).toBe(expected);
  check('http://localhost:8000', 'localhost:8000');
  check('http://localhost:8000/mcp', 'localhost:8000/mcp');
  check('https://localhost:8443/', 'https://localhost:8443');
  expect(endpointName({ url: DEFAULT_URL, name: 'Notes' })).toBe('Notes');
});

test('where another address may do, it is named', () => {
  const check = (url: string, kind: Diagnosis['kind'], expected: string | undefined) =>
    expect(alternativeUrl(url, { kind } as Diagnosis)).toBe(expected);
  check('https://localhost:8000', 'useHttp', 'http://localhost:8000');
  check('http://localhost:8000/mcp', 'useHttps', 'https://localhost:8000/mcp');
  check('http://[::1]:8000', 'policy', 'http://localhost:8000');
  check('http://192.168.1.2:8000', 'policy', undefined);
  check('http://localhost:8000', 'cors', undefined);
});
