import { expect, test } from 'vitest';
import { secretNamed, settable, unsetIn } from './unset';

test('a variable says whose secret it is', () => {
  expect(secretNamed('TOKEN')).toEqual({ name: 'TOKEN', mine: false });
  expect(secretNamed('user.TOKEN')).toEqual({ name: 'TOKEN', mine: true });
  expect(secretNamed('user.')).toEqual({ name: 'user.', mine: false });
});

test('who is no admin sets their own alone', () => {
  const variables = ['TOKEN', 'user.TOKEN', 'TOKEN'];
  expect(settable(variables, true)).toEqual(['TOKEN', 'user.TOKEN']);
  expect(settable(variables, false)).toEqual(['user.TOKEN']);
});

test('a reason says what is not set', () => {
  const check = (why: string, expected: string[]) => expect(unsetIn(why)).toEqual(expected);
  check('Nobody has set `${TOKEN}`: an admin sets it under Secrets.', ['TOKEN']);
  check('Nobody has set `${A}` and `${user.B}`, nor `${A}`.', ['A', 'user.B']);
  check('`npx` was not found.', []);
});
