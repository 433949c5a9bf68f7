import { expect, test, vi } from 'vitest';
import type { ModuleView, NewModule } from '$lib/api/types';
import type { CreateOptions } from './creation';
import { ToolImport } from './toolImport.svelte';

const exported = (id: string) => ({
  id,
  name: id.toUpperCase(),
  description: id === 'plain' ? 'Does it plainly.' : '',
  content: id,
});

function viewOf(code: string): ModuleView {
  const kinds = { inner: 'internals', heavy: 'missing_module' } as const;
  const kind = kinds[code as keyof typeof kinds] as 'internals' | 'missing_module' | undefined;
  const tools = [{ name: `use_${code}`, description: '', parameters: {} }];
  return {
    language: 'python',
    requirements: [],
    tools,
    warnings: [],
    ...(kind && { error: { kind, message: '', modules: ['m'] } }),
  };
}

test('each tool is checked, then saved, and what fails stops nothing else', async () => {
  const create = vi.fn(async ({ code }: NewModule) => {
    if (code === 'taken') throw new Error('The name is taken');
  });
  const describe = async ({ code }: { code: string }) => {
    if (code === 'away') throw new Error('No answer');
    return viewOf(code);
  };
  const tools = new ToolImport({ describe, create });
  await tools.check(['plain', 'inner', 'heavy', 'away', 'taken', 'passed'].map(exported));
  expect(tools.rows.map(({ state }) => state)).toEqual([
    'ready',
    'refused',
    // Its packages are set up when it is saved.
    'ready',
    'failed',
    'ready',
    'ready',
  ]);
  tools.choose(5, false);
  await tools.import();
  expect(tools.rows.map(({ state }) => state)).toEqual([
    'imported',
    'refused',
    'imported',
    'failed',
    'failed',
    'ready',
  ]);
  expect(tools.imported).toBe(2);
  expect(create.mock.calls.map(([{ name, language, meta }]) => [name, language, meta])).toEqual([
    ['PLAIN', 'python', { description: 'Does it plainly.' }],
    ['HEAVY', 'python', undefined],
    ['TAKEN', 'python', undefined],
  ]);
});

test('what installs packages is told, and stopping imports nothing more', async () => {
  const seen: (string | undefined)[] = [];
  const create = vi.fn(async (_module: NewModule, { signal, onprogress }: CreateOptions) => {
    onprogress('pip install heavy');
    seen.push(tools.rows[0]?.progress);
    tools.stop();
    signal.throwIfAborted();
  });
  const tools = new ToolImport({ describe: async ({ code }) => viewOf(code), create });
  await tools.check(['heavy', 'plain'].map(exported));
  await tools.import();
  expect(seen).toEqual(['pip install heavy']);
  expect(create).toHaveBeenCalledTimes(1);
  expect(tools.imported).toBe(0);
  expect(tools.busy).toBe(false);
});
