import { expect, test } from 'vitest';
import type { SkillDetail, SkillToolView, SkillView } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { skillsEn } from '$lib/i18n/skills/en';
import { lacksNetwork, missingVariables, skillFacts, withNews } from './facts';
import { permissions } from './fixtures';

const tool = (kind: SkillToolView['kind']) => ({ kind }) as SkillToolView;

test('a skill is summed up in a line', () => {
  const check = (skill: Partial<SkillView>, expected: string[]) =>
    expect(skillFacts({ state: 'ready', tools: [], ...skill } as SkillView, skillsEn, en)).toEqual(
      expected,
    );
  check({ version: '1.2' }, ['Ready', 'version 1.2', 'instructions only']);
  // What gives the instructions is no tool of its own.
  check({ tools: [tool('instructions')] }, ['Ready', 'instructions only']);
  check({ state: 'off', tools: [tool('http'), tool('runner')] }, ['Switched off', '2 tools']);
});

test('variables are missing that are needed, have no default and are not set', () => {
  const variable = (name: string, more = {}) => ({
    name,
    description: null,
    default: null,
    isSecret: false,
    isRequired: true,
    ...more,
  });
  const skill = {
    permissions: permissions({
      variables: [
        variable('SET'),
        variable('UNSET'),
        variable('DEFAULT', { default: 'x' }),
        variable('OPTIONAL', { isRequired: false }),
        variable('UNHEARD'),
      ],
    }),
    values: [
      { name: 'SET', isSet: true },
      { name: 'UNSET', isSet: false },
    ],
  } as unknown as SkillDetail;
  expect(missingVariables(skill).map(({ name }) => name)).toEqual(['UNSET', 'UNHEARD']);
});

test('the network lacks where it is asked for and not allowed', () => {
  const check = (network: boolean, networkAllowed: boolean, expected: boolean) =>
    expect(
      lacksNetwork({ permissions: permissions({ network }), networkAllowed } as SkillView),
    ).toBe(expected);
  check(true, false, true);
  check(true, true, false);
  check(false, false, false);
});

test('what the list says is newer, unless it is of another version', () => {
  const failed = {
    hash: 'a',
    state: 'failed',
    why: {},
    instructions: 'Do.',
  } as unknown as SkillDetail;
  const listed = (hash: string) => ({ hash, state: 'ready' }) as SkillView;
  expect(withNews(failed, listed('a'))).toEqual({ hash: 'a', state: 'ready', instructions: 'Do.' });
  expect(withNews(failed, listed('b'))).toBe(failed);
  expect(withNews(failed, undefined)).toBe(failed);
});
