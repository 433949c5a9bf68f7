import { expect, test } from 'vitest';
import type { SchemeView } from '$lib/api/types';
import {
  allCredentials,
  credentialsFor,
  givenCredentials,
  isIncomplete,
  isLost,
  withSchemes,
  type Credential,
} from './credentials';

const scheme = (name: string, kind: SchemeView['kind']): SchemeView => ({
  name,
  kind,
  description: '',
});
const key = scheme('key', { type: 'key', place: 'header', name: 'X-Key' });
const bearer = scheme('bearer', { type: 'bearer' });
const basic = scheme('basic', { type: 'basic' });
const client = scheme('client', { type: 'client', tokenUrl: '/token', scopes: [] });
const other = scheme('digest', { type: 'other', name: 'digest' });

/** With these entered, by name: who, and the secret. */
function enter(credentials: Credential[], given: Record<string, [string, string]>): Credential[] {
  return credentials.map((credential) => {
    const [who, secret] = given[credential.name] ?? ['', ''];
    return { ...credential, who, secret };
  });
}

test('what is entered is told by the names of the schemes, and nothing of the rest', () => {
  const asked = credentialsFor({}, [key, bearer, basic, client, other]);
  expect(asked.map(({ kind }) => kind)).toEqual(['key', 'key', 'basic', 'client', 'other']);
  expect(givenCredentials(asked)).toEqual({});
  const entered = enter(asked, {
    bearer: ['', 'token'],
    basic: [' ada ', ''],
    client: ['tenon', 's3cret'],
    digest: ['', 'x'],
  });
  expect(givenCredentials(entered)).toEqual({
    bearer: { type: 'key', value: 'token' },
    basic: { type: 'basic', user: 'ada', password: '' },
    client: { type: 'client', id: 'tenon', secret: 's3cret' },
  });
});

test('what is stored is kept until it is replaced or removed', () => {
  const stored = credentialsFor({ basic: 'basic', key: 'key', old: 'key' }, [key, basic]);
  expect(stored.map(({ name, scheme }) => [name, scheme !== undefined])).toEqual([
    ['key', true],
    ['basic', true],
    ['old', false],
  ]);
  expect(allCredentials(stored)).toEqual({ key: null, basic: null, old: null });
  expect(givenCredentials(stored)).toEqual({});
  const changed = stored.map((credential): Credential => {
    if (credential.name === 'old') return { ...credential, now: 'removed' };
    if (credential.name === 'key') return { ...credential, now: 'given', secret: 'new' };
    return credential;
  });
  expect(allCredentials(changed)).toEqual({ key: { type: 'key', value: 'new' }, basic: null });
});

test('a client says where it gets its tokens and what for only where that was entered', () => {
  const check = (typed: Partial<Credential>, expected: object) => {
    const told = { client: { type: 'client', id: 'tenon', secret: 's3cret', ...expected } };
    const enter = (credential: Credential): Credential => ({
      ...credential,
      now: 'given',
      who: 'tenon',
      secret: 's3cret',
      ...typed,
    });
    expect(givenCredentials(credentialsFor({}, [client]).map(enter))).toEqual(told);
    // One that is stored is completed by the server.
    expect(allCredentials(credentialsFor({ client: 'client' }, [client]).map(enter))).toEqual(told);
  };
  check({}, {});
  check({ tokenUrl: ' ', scopes: ' ' }, {});
  check({ tokenUrl: ' https://id.example/token ' }, { tokenUrl: 'https://id.example/token' });
  check({ scopes: ' read   write ' }, { scopes: 'read write' });
  check(
    { tokenUrl: 'https://id.example/token', scopes: 'read' },
    { tokenUrl: 'https://id.example/token', scopes: 'read' },
  );
});

test('where a client gets its tokens is an address', () => {
  const check = (tokenUrl: string, expected: boolean) => {
    const [credential] = credentialsFor({}, [client]);
    expect(credential && isLost({ ...credential, tokenUrl })).toBe(expected);
    expect(credential && isLost({ ...credential, tokenUrl, kind: 'basic' })).toBe(false);
    expect(credential && isLost({ ...credential, tokenUrl, now: 'removed' })).toBe(false);
  };
  check('', false);
  check(' ', false);
  check('https://id.example/token', false);
  check('${ISSUER}/token', false);
  check('/token', true);
  check('id.example', true);
});

test('half of one is not enough', () => {
  const check = (asked: SchemeView, given: [string, string], expected: boolean) => {
    const [credential] = enter(credentialsFor({}, [asked]), { [asked.name]: given });
    expect(credential && isIncomplete(credential)).toBe(expected);
  };
  check(key, ['', ''], false);
  check(key, ['', 'x'], false);
  check(basic, ['ada', ''], false);
  check(client, ['', ''], false);
  check(client, ['tenon', ''], true);
  check(client, ['', 's3cret'], true);
  const [typed] = credentialsFor({}, [client]);
  expect(typed && isIncomplete({ ...typed, scopes: 'read' })).toBe(true);
  expect(typed && isIncomplete({ ...typed, tokenUrl: 'https://id.example/token' })).toBe(true);
  const [kept] = credentialsFor({ key: 'key' }, [key]);
  expect(kept && isIncomplete(kept)).toBe(false);
  expect(kept && isIncomplete({ ...kept, now: 'given' })).toBe(true);
  expect(kept && isIncomplete({ ...kept, now: 'removed' })).toBe(false);
});

test('a second look keeps what was entered, as far as it is still asked for', () => {
  const entered = enter(credentialsFor({ old: 'key' }, [key, basic]), {
    key: ['', 'secret'],
    basic: ['ada', 'pw'],
  });
  const again = withSchemes(entered, [scheme('basic', { type: 'bearer' }), key, key]);
  expect(again.map(({ name, kind, secret, now }) => [name, kind, secret, now])).toEqual([
    ['basic', 'key', '', 'given'],
    ['key', 'key', 'secret', 'given'],
    ['old', 'key', '', 'kept'],
  ]);
});
