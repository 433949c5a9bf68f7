import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { settingChanges } from '$lib/account/events';
import { devices } from '$lib/api/devices';
import type { LocalEndpoint } from '$lib/api/types';
import { DEFAULT_PORTS, DEFAULT_URL, Endpoints, readPorts } from './endpoints.svelte';

vi.mock('$lib/api/devices', () => ({
  devices: { endpoints: vi.fn(async () => null), keepEndpoints: vi.fn(async () => {}) },
}));

const at = (url: string) => ({ url, name: '', kind: 'auto' as const, enabled: true });

let stops: (() => void)[] = [];
afterEach(() => {
  stops.forEach((stop) => stop());
  stops = [];
  vi.useRealTimers();
});

async function started(): Promise<Endpoints> {
  const endpoints = new Endpoints();
  stops.push(endpoints.start(() => {}));
  await Promise.resolve();
  return endpoints;
}

beforeEach(() => {
  localStorage.clear();
  vi.mocked(devices.endpoints).mockReset().mockResolvedValue(null);
  vi.mocked(devices.keepEndpoints).mockReset().mockResolvedValue();
});

test('looks where an mcpo listens, until told otherwise', async () => {
  const endpoints = await started();
  expect(endpoints.enabled.map(({ url }) => url)).toEqual([DEFAULT_URL]);
  endpoints.remove(DEFAULT_URL);
  expect(endpoints.all).toEqual([]);
  expect((await started()).all).toEqual([]);
});

test('remembers addresses and keys, and takes both along when an address changes', async () => {
  const endpoints = await started();
  endpoints.put(at('http://localhost:9000'));
  endpoints.setKey('http://localhost:9000', { header: 'X-Key', value: 'secret' });
  endpoints.put(at('http://localhost:9001'), 'http://localhost:9000');
  const again = await started();
  expect(again.all.map(({ url }) => url)).toEqual([DEFAULT_URL, 'http://localhost:9001']);
  expect(again.headersOf('http://localhost:9001')).toEqual({ 'x-key': 'secret' });
  expect(again.headersOf('http://localhost:9000')).toEqual({});
  again.remove('http://localhost:9001');
  expect(localStorage.getItem('tenon.local.keys')).toBeNull();
});

test('the account is given addresses, and never a key', async () => {
  vi.mocked(devices.endpoints).mockResolvedValue([at('http://localhost:7000')]);
  localStorage.setItem('tenon.local.sync', 'no');
  const endpoints = await started();
  endpoints.put(at('http://localhost:9000/?token=secret'));
  endpoints.setKey(DEFAULT_URL, { header: 'Authorization', value: 'Bearer secret' });
  expect(devices.keepEndpoints).not.toHaveBeenCalled();
  await endpoints.setSynced(true);
  expect(endpoints.all).toHaveLength(3);
  const given = JSON.stringify(vi.mocked(devices.keepEndpoints).mock.calls);
  expect(given).toContain(DEFAULT_URL);
  expect(given).not.toContain('secret');
});

test('a new browser takes over what the account has', async () => {
  vi.mocked(devices.endpoints).mockResolvedValue([at('http://localhost:7000')]);
  const endpoints = new Endpoints();
  const changed = vi.fn();
  stops.push(endpoints.start(changed));
  await vi.waitFor(() => expect(changed).toHaveBeenCalled());
  expect(endpoints.all.map(({ url }) => url)).toEqual(['http://localhost:7000']);
  expect(endpoints.synced).toBe(true);
});

test('a browser with addresses of its own keeps them, and gives them to the account', async () => {
  localStorage.setItem('tenon.local.endpoints', JSON.stringify([at('http://localhost:9000')]));
  vi.mocked(devices.endpoints).mockResolvedValue([at('http://localhost:7000')]);
  const both = [at('http://localhost:7000'), at('http://localhost:9000')];
  const endpoints = await started();
  await vi.waitFor(() => expect(endpoints.all).toEqual(both));
  expect(devices.keepEndpoints).toHaveBeenCalledExactlyOnceWith(both);
  // From then on the account is what counts.
  await vi.waitFor(() => expect(localStorage.getItem('tenon.local.unsent')).toBeNull());
  const again = await started();
  await vi.waitFor(() => expect(again.all).toEqual([at('http://localhost:7000')]));
});

test('what could not be sent to the account is sent the next time, before it is asked', async () => {
  localStorage.setItem('tenon.local.sync', 'yes');
  vi.mocked(devices.endpoints).mockResolvedValue(null);
  vi.mocked(devices.keepEndpoints).mockRejectedValueOnce(new TypeError('Failed to fetch'));
  const endpoints = await started();
  endpoints.put(at('http://localhost:9000'));
  await vi.waitFor(() => expect(devices.keepEndpoints).toHaveBeenCalledOnce());
  let kept: readonly LocalEndpoint[] = [at('http://localhost:7000')];
  vi.mocked(devices.endpoints).mockImplementation(async () => [...kept]);
  vi.mocked(devices.keepEndpoints).mockImplementation(async (all) => {
    kept = all;
  });
  const again = await started();
  await vi.waitFor(() => expect(localStorage.getItem('tenon.local.unsent')).toBeNull());
  expect(kept.map(({ url }) => url)).toEqual([DEFAULT_URL, 'http://localhost:9000']);
  expect(again.all).toEqual(kept);
});

test('an address that is added while the account is asked is not lost', async () => {
  localStorage.setItem('tenon.local.sync', 'yes');
  let answer!: (kept: LocalEndpoint[]) => void;
  vi.mocked(devices.endpoints).mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const endpoints = await started();
  endpoints.put(at('http://localhost:9000'));
  answer([at('http://localhost:7000')]);
  await new Promise((resolve) => setTimeout(resolve));
  expect(endpoints.all.map(({ url }) => url)).toContain('http://localhost:9000');
});

test('what could not be sent to the account is sent again by itself', async () => {
  vi.useFakeTimers();
  localStorage.setItem('tenon.local.sync', 'yes');
  const endpoints = await started();
  vi.mocked(devices.keepEndpoints)
    .mockRejectedValueOnce(new TypeError('Failed to fetch'))
    .mockRejectedValueOnce(new TypeError('Failed to fetch'));
  endpoints.put(at('http://localhost:9000'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(devices.keepEndpoints).toHaveBeenCalledTimes(3);
  expect(devices.keepEndpoints).toHaveBeenLastCalledWith(endpoints.all);
  expect(localStorage.getItem('tenon.local.unsent')).toBeNull();
});

test('of two answers on their way the newer one counts, in whatever order they come', async () => {
  vi.useFakeTimers();
  localStorage.setItem('tenon.local.sync', 'yes');
  const answers: ((kept: LocalEndpoint[]) => void)[] = [];
  vi.mocked(devices.endpoints).mockImplementation(
    () => new Promise((resolve) => answers.push(resolve)),
  );
  const check = async (order: number[]) => {
    answers.length = 0;
    const endpoints = await started();
    settingChanges.emit();
    await vi.advanceTimersByTimeAsync(1_000);
    for (const index of order) {
      answers[index]?.([at(`http://localhost:700${index}`)]);
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(endpoints.all.map(({ url }) => url)).toEqual(['http://localhost:7001']);
    stops.forEach((stop) => stop());
  };
  await check([0, 1]);
  await check([1, 0]);
});

test('what the account has is read again where that failed', async () => {
  vi.useFakeTimers();
  localStorage.setItem('tenon.local.sync', 'yes');
  const endpoints = await started();
  vi.mocked(devices.endpoints)
    .mockRejectedValueOnce(new TypeError('Failed to fetch'))
    .mockResolvedValue([at('http://localhost:7000')]);
  settingChanges.emit();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(endpoints.all.map(({ url }) => url)).toEqual(['http://localhost:7000']);
});

test('the addresses are not kept in an account that cannot be asked', async () => {
  const endpoints = await started();
  vi.mocked(devices.endpoints).mockRejectedValue(new TypeError('Failed to fetch'));
  await expect(endpoints.setSynced(true)).rejects.toThrow();
  expect([endpoints.synced, localStorage.getItem('tenon.local.sync')]).toEqual([false, null]);
});

test('what comes after the end is not remembered: somebody else may be there', async () => {
  vi.mocked(devices.endpoints).mockResolvedValue([at('http://localhost:7000')]);
  const endpoints = new Endpoints();
  endpoints.start(() => {})();
  await new Promise((resolve) => setTimeout(resolve));
  expect(localStorage.length).toBe(0);
});

test('what is remembered wrongly is passed over', async () => {
  localStorage.setItem('tenon.local.endpoints', '[{"url":"nonsense://x"},{"url":7},null]');
  localStorage.setItem('tenon.local.keys', '{"broken');
  const endpoints = await started();
  expect(endpoints.all).toEqual([]);
  expect(endpoints.headersOf(DEFAULT_URL)).toEqual({});
});

test('ports are read as people write them', () => {
  expect(readPorts('8000, 3000-3002；9000、x 70000 0')).toEqual([8000, 3000, 3001, 3002, 9000]);
  expect(readPorts('5-3')).toEqual([]);
  expect(readPorts('1-60000').length).toBeLessThanOrEqual(200);
  expect(readPorts(DEFAULT_PORTS.join(','))).toEqual(DEFAULT_PORTS);
});
