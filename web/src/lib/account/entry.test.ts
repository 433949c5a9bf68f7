import { expect, test } from 'vitest';
import { problemsOf, type Entry, type EntryProblem, type Way } from './entry';

const good: Entry = { name: 'Ann', email: 'ann@example.com', password: 'correct horse', code: '1' };

test('what is wrong is known before the server is asked', () => {
  const check = (
    way: Way,
    change: Partial<Entry>,
    expected: Partial<Record<keyof Entry, EntryProblem>>,
  ) => expect(problemsOf({ ...good, ...change }, way, true)).toEqual(expected);
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
  check('alone', { name: '', email: '', password: '' }, {});
  check('alone', { code: ' ' }, { code: 'missing' });
  check('logIn', { email: '', password: '' }, { email: 'missing', password: 'missing' });
});
