import { expect, test } from 'vitest';
import type { PromptView, ServerPromptView, SkillView } from '$lib/api/types';
import { expertsEn } from '$lib/i18n/experts/en';
import { expertsZhHans } from '$lib/i18n/experts/zh-hans';
import { expertsZhHant } from '$lib/i18n/experts/zh-hant';
import { matchCommands, slashQuery } from './slash';

test('a command is the first word of a message, and nothing else is', () => {
  const check = (text: string, expected: string | undefined) =>
    expect(slashQuery(text)).toBe(expected);
  check('/', '');
  check('/sum', 'sum');
  check('/总结', '总结');
  check('', undefined);
  check('a/b', undefined);
  check('/usr/bin is a folder', undefined);
  check('/sum\n', undefined);
});

const saved = (command: string, title = ''): PromptView => ({
  id: command,
  command,
  title,
  text: `The text of ${command}`,
  visibility: 'private',
  mine: true,
  canChange: true,
});
const offered: ServerPromptView[] = [
  { name: 'mcp_git_commit', title: 'Git/Commit', description: 'A message', arguments: [] },
];

const skill = (name: string, title: string, more: Partial<SkillView> = {}) =>
  ({ id: name, name, title, enabled: true, useToolId: `skill_${name}_use`, ...more }) as SkillView;
const skills = [
  skill('minutes', 'Meeting notes 会议纪要'),
  skill('off', 'Summary of nothing', { enabled: false }),
  skill('sum-tools', 'Only tools', { useToolId: undefined }),
];

test('what begins with the word comes before what only has it', () => {
  const check = (query: string, expected: string[]) =>
    expect(
      matchCommands(query, [saved('resume', 'Sum up'), saved('summary')], offered, skills).map(
        ({ command }) => command,
      ),
    ).toEqual(expected);
  check('', ['resume', 'summary', 'minutes', 'mcp_git_commit']);
  check('SUM', ['summary', 'resume']);
  check('commit', ['mcp_git_commit']);
  check('会议', ['minutes']);
  check('nothing', []);
});

test('a skill that is chosen is named by the id of its tool, which offers it to the model', () => {
  const [command] = matchCommands('minutes', [], [], skills);
  if (command?.kind !== 'skill') throw new Error('no skill');
  for (const w of [expertsEn, expertsZhHans, expertsZhHant]) {
    const text = w.skillMessage(command.title, command.toolId);
    // As the server reads it: what names of tools are made of, up to anything else.
    expect(text.split(/[^\w./:-]+/)).toContain('skill_minutes_use');
    expect(text).toContain('Meeting notes 会议纪要');
  }
});
