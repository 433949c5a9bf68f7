import { expect, test } from 'vitest';
import { secretNamed, settable, wrongSecretName } from './secretNames';

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

test('a secret has a name that a configuration can mean', () => {
  const check = (name: string, expected: string | undefined) =>
    expect(wrongSecretName(name)).toBe(expected);
  check('GITHUB_TOKEN', undefined);
  check('_token.key-2', undefined);
  check('A'.repeat(128), undefined);
  check('A'.repeat(129), 'bad');
  check('2TOKEN', 'bad');
  check('not a name', 'bad');
  check('名', 'bad');
  check('user.TOKEN', 'own');
  check('', 'missing');
});
