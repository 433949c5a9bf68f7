import { expect, test } from 'vitest';
import type { Section } from '$lib/router.svelte';
import { findSections, sectionFor, sectionGroupsOf, sectionsOf } from './sections';

test('everybody has the settings that are theirs', () => {
  const check = (hasAccount: boolean, isAdmin: boolean, expected: string) =>
    expect(sectionsOf({ hasAccount, isAdmin }).join(' ')).toBe(expected);
  check(
    true,
    true,
    'account instructions appearance notifications shortcuts keys data servers local skills policies models experts prompts people dashboard log',
  );
  check(
    true,
    false,
    'account instructions appearance notifications shortcuts keys data servers local skills policies experts prompts',
  );
  check(
    false,
    true,
    'instructions appearance notifications shortcuts data servers local skills policies models experts prompts dashboard log',
  );
});

test('a heading with nothing under it is left out', () => {
  const names = (isAdmin: boolean) =>
    sectionGroupsOf({ hasAccount: true, isAdmin }).map(({ name }) => name);
  expect(names(true)).toEqual(['you', 'tools', 'models', 'team']);
  expect(names(false)).toEqual(['you', 'tools', 'models']);
});

test('an address leads to a part that is there', () => {
  const check = (
    asked: Section | undefined,
    hasAccount: boolean,
    isAdmin: boolean,
    expected: string,
  ) => expect(sectionFor(asked, { hasAccount, isAdmin }, !hasAccount)).toBe(expected);
  check('keys', true, false, 'keys');
  check('people', true, false, 'account');
  check('models', true, false, 'account');
  check(undefined, true, true, 'account');
  // Who has no account is told so where their keys would be.
  check('keys', false, true, 'keys');
  check('people', false, true, 'appearance');
});

test('sections are found by the words of what they are about', () => {
  const groups = sectionGroupsOf({ hasAccount: true, isAdmin: true });
  const words: Partial<Record<Section, string>> = {
    account: 'Account password e-mail',
    appearance: 'Appearance theme 主题',
    keys: 'API keys password',
  };
  const check = (search: string, expected: Section[]) => {
    const found = findSections(groups, search, (section) => words[section] ?? '');
    expect(found.flatMap(({ sections }) => sections)).toEqual(expected);
  };
  check('PASSWORD', ['account', 'keys']);
  check('keys password', ['keys']);
  check('主题', ['appearance']);
  check('nothing of the kind', []);
  expect(findSections(groups, ' ', () => '')).toEqual(groups);
});
