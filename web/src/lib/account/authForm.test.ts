import { expect, test } from 'vitest';
import { authProblems, type AuthEntry, type AuthProblem, type AuthMode } from './authForm';

const good: AuthEntry = {
  name: 'Ann',
  email: 'ann@example.com',
  password: 'correct horse',
  code: '1',
};

test('what is wrong is known before the server is asked', () => {
  const check = (
    mode: AuthMode,
    change: Partial<AuthEntry>,
    expected: Partial<Record<keyof AuthEntry, AuthProblem>>,
  ) => expect(authProblems({ ...good, ...change }, mode, true)).toEqual(expected);
  check('setup', {}, {});
  check('setup', { name: ' ', code: '' }, { name: 'missing', code: 'missing' });
  check('setup', { email: 'ann' }, { email: 'notEmail' });
  check('setup', { email: 'an n@example.com' }, { email: 'notEmail' });
  check('setup', { email: '安@例子.测试' }, {});
  check('signUp', { password: '1234567' }, { password: 'shortPassword' });
  check('signUp', { password: '密码密码密码密码' }, {});
  check('signUp', { password: '🔑🔑🔑🔑' }, { password: 'shortPassword' });
  check('invite', { password: '        ' }, {});
  check('signUp', { code: '' }, {});
  // Whoever has an account got through these rules when it was made.
  check('logIn', { name: '', code: '', password: 'short' }, {});
  check('singleUser', { name: '', email: '', password: '' }, {});
  check('singleUser', { code: ' ' }, { code: 'missing' });
  check('logIn', { email: '', password: '' }, { email: 'missing', password: 'missing' });
});
