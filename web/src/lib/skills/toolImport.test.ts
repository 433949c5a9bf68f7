import { expect, test, vi } from 'vitest';
import type { ModuleView, NewModule } from '$lib/api/types';
import { ToolImport } from './toolImport.svelte';

const exported = (id: string) => ({ id, name: id.toUpperCase(), description: '', content: id });

function viewOf(code: string): ModuleView {
  const kinds = { inner: 'internals', heavy: 'missing_module' } as const;
  const kind = kinds[code as keyof typeof kinds] as 'internals' | 'missing_module' | undefined;
  const tools = [{ name: `use_${code}`, description: '', parameters: {} }];
  return {
    language: 'python',
    requirements: [],
    tools,
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
  expect(create.mock.calls.map(([{ name, language }]) => [name, language])).toEqual([
    ['PLAIN', 'python'],
    ['HEAVY', 'python'],
    ['TAKEN', 'python'],
  ]);
});
