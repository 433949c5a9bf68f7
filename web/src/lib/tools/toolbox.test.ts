import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '$lib/api/client';
import type { ToolView } from '$lib/api/types';
import { recall, remember } from '$lib/storage';
import { Toolbox } from './toolbox.svelte';

const tool = (toolId: string) =>
  ({ toolId, enabled: true, source: { state: 'ready' } }) as unknown as ToolView;

beforeEach(() => localStorage.clear());
afterEach(() => vi.restoreAllMocks());

test('a turn is told nothing while nothing is switched off', async () => {
  const tools = vi.spyOn(api, 'tools');
  expect(await new Toolbox('a').choice()).toBeUndefined();
  expect(tools).not.toHaveBeenCalled();
});

test('what is switched off stays off before the list of tools is there', async () => {
  remember('tools-off.a', 'y');
  vi.spyOn(api, 'tools').mockResolvedValue([tool('x'), tool('y')]);
  expect(await new Toolbox('a').choice()).toEqual(['x']);
});

test('without the list of tools there is no choice', async () => {
  remember('tools-off.a', 'y');
  vi.spyOn(api, 'tools').mockRejectedValue(new Error('no'));
  await expect(new Toolbox('a').choice()).rejects.toThrow('no');
});

test('the choice is that of the chat it was asked in', async () => {
  remember('tools-off.a', 'y');
  remember('tools-off.b', 'x');
  vi.spyOn(api, 'tools').mockResolvedValue([tool('x'), tool('y')]);
  const toolbox = new Toolbox('a');
  const choice = toolbox.choice();
  toolbox.open('b');
  expect(await choice).toEqual(['x']);
});

test('a tool that is not available now is still off when it comes back', async () => {
  remember('tools-off.a', 'y');
  vi.spyOn(api, 'tools').mockResolvedValue([tool('x')]);
  expect(await new Toolbox('a').choice()).toEqual(['x']);
});

test('a new chat takes its choice along, and no other', () => {
  remember('tools-off.new', 'y');
  remember('tools-off.b', 'x');
  const toolbox = new Toolbox(undefined);
  toolbox.open('b');
  toolbox.moveTo(undefined, 'a');
  expect([recall('tools-off.new'), recall('tools-off.a'), recall('tools-off.b')]).toEqual([
    undefined,
    'y',
    'x',
  ]);
  expect(toolbox.isOn('y')).toBe(true);
});
