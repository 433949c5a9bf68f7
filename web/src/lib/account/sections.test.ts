import { expect, test } from 'vitest';
import { sectionFor, sectionsOf } from './sections';

test('everybody has the settings that are theirs', () => {
  const check = (hasAccount: boolean, isAdmin: boolean, expected: string) =>
    expect(sectionsOf({ hasAccount, isAdmin }).join(' ')).toBe(expected);
  check(
    true,
    true,
    'account keys experts instructions prompts skills servers people dashboard log',
  );
  check(true, false, 'account keys experts instructions prompts skills servers');
  check(false, true, 'experts instructions prompts skills servers dashboard log');
});

test('an address leads to a part that is there', () => {
  const check = (
    asked: 'keys' | 'people',
    hasAccount: boolean,
    isAdmin: boolean,
    expected: string,
  ) => expect(sectionFor(asked, { hasAccount, isAdmin }, !hasAccount)).toBe(expected);
  check('keys', true, false, 'keys');
  check('people', true, false, 'account');
  // Who has no account is told so where their keys would be.
  check('keys', false, true, 'keys');
  check('people', false, true, 'experts');
});
