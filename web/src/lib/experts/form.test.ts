import { expect, test } from 'vitest';
import type { ExpertView, ToolView } from '$lib/api/types';
import { changeOf, formOf, wrongNumbers } from './form';

const tool = (toolId: string) => ({ toolId }) as ToolView;
const tools = [tool('builtin_calculate'), tool('mcp_git_log')];

const expert: ExpertView = {
  id: 'x',
  builtin: false,
  visibility: 'team',
  mine: true,
  canChange: true,
  hidden: false,
  name: 'tax',
  title: '税务',
  description: 'Taxes',
  icon: 'scale',
  model: 'gpt',
  parameters: { temperature: 0, maxTokens: 100 },
  systemPrompt: 'Be exact.\n',
  tools: ['mcp_git_log', 'mcp_mail_*'],
  skills: ['words'],
  starters: ['How much?', 'Two\nlines'],
};

test('what is not changed is sent back as it was', () => {
  expect(changeOf(formOf(expert, tools))).toEqual({
    name: 'tax',
    title: '税务',
    description: 'Taxes',
    icon: 'scale',
    model: 'gpt',
    parameters: { temperature: 0, topP: undefined, maxTokens: 100 },
    systemPrompt: 'Be exact.\n',
    tools: ['mcp_git_log', 'mcp_mail_*'],
    skills: ['words'],
    starters: ['How much?', 'Two lines'],
    visibility: 'team',
  });
});

test('a new one has all tools, the default model and no name yet', () => {
  const form = { ...formOf(undefined, tools), title: ' Tax ' };
  expect(changeOf(form)).toMatchObject({ title: 'Tax', model: null, tools: null });
  expect(changeOf(form)).not.toHaveProperty('name');
});

test('what is no number is known', () => {
  const form = formOf(expert, tools);
  expect(wrongNumbers(form)).toEqual([]);
  expect(wrongNumbers({ ...form, temperature: 'warm', topP: ' ' })).toEqual(['temperature']);
});
