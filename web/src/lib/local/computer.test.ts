import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { devices } from '$lib/api/devices';
import type { DeviceView } from '$lib/api/types';
import { Computer } from './computer.svelte';

const device = (id: string, more: Partial<DeviceView> = {}): DeviceView => ({
  id,
  name: `The ${id}`,
  online: false,
  pages: [],
  servers: [{} as DeviceView['servers'][number]],
  ...more,
});

beforeEach(() => {
  localStorage.clear();
  vi.spyOn(devices, 'all').mockResolvedValue([]);
  vi.spyOn(devices, 'forget').mockResolvedValue();
});
afterEach(() => vi.restoreAllMocks());

test('a browser keeps the id it has, and nobody is asked', async () => {
  localStorage.setItem('tenon.device', 'old');
  const computer = new Computer(() => 'Linux computer');
  await computer.identify();
  expect(computer.info?.id).toBe('old');
  expect(devices.all).not.toHaveBeenCalled();
});

test('the first computer of a person has a name at once', async () => {
  const computer = new Computer(() => 'Linux computer');
  await computer.identify();
  expect(computer.info).toMatchObject({ name: 'Linux computer' });
  expect(new Computer(() => '').info).toEqual(computer.info);
});

test('where others are known a person says which one it is', async () => {
  vi.mocked(devices.all).mockResolvedValue([device('laptop'), device('empty', { servers: [] })]);
  const computer = new Computer(() => 'Linux computer');
  await Promise.all([computer.identify(), computer.identify()]);
  expect(devices.all).toHaveBeenCalledTimes(1);
  expect([computer.info, computer.candidates?.map(({ id }) => id)]).toEqual([
    undefined,
    ['laptop'],
  ]);
  await computer.adopt(device('laptop'));
  expect([computer.info, computer.candidates]).toEqual([
    { id: 'laptop', name: 'The laptop' },
    undefined,
  ]);
  expect(localStorage.getItem('tenon.device')).toBe('laptop');
  expect(devices.forget).not.toHaveBeenCalled();
});

test('another computer gets an id of its own, and keeps it when it is renamed', async () => {
  vi.mocked(devices.all).mockResolvedValue([device('laptop')]);
  const computer = new Computer(() => '');
  await computer.identify();
  computer.name('Office');
  const { id } = computer.info ?? {};
  expect(id).not.toBe('laptop');
  computer.name('Office PC');
  expect(computer.info).toEqual({ id, name: 'Office PC' });
});

test('one that turns out to be known takes its tools along', async () => {
  localStorage.setItem('tenon.device', 'old');
  const computer = new Computer(() => '');
  await computer.adopt(device('laptop'));
  expect(devices.forget).toHaveBeenCalledExactlyOnceWith('old');
});

test('a server that does not answer is asked again', async () => {
  vi.mocked(devices.all).mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
  const computer = new Computer(() => 'Mine');
  await expect(computer.identify()).rejects.toThrow('away');
  expect(computer.info).toBeUndefined();
  await computer.identify();
  expect(computer.info?.name).toBe('Mine');
});
