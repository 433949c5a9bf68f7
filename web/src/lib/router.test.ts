import { expect, test } from 'vitest';
import { href, parse, router, type Route } from './router.svelte';

test('a place and its address are two forms of the same', () => {
  const check = (hash: string, route: Route) => {
    expect(parse(hash)).toEqual(route);
    expect(href(route)).toBe(hash);
  };
  check('#/', { name: 'new' });
  check('#/c/abc', { name: 'chat', chatId: 'abc' });
  check('#/c/a%2Fb', { name: 'chat', chatId: 'a/b' });
  check('#/c/abc/t1', { name: 'chat', chatId: 'abc', turnId: 't1' });
  check('#/e/x', { name: 'new', expertId: 'x' });
  check('#/f/abc', { name: 'new', folderId: 'abc' });
  check('#/f/abc/x', { name: 'new', folderId: 'abc', expertId: 'x' });
  check('#/compare/a/b%3Ac', { name: 'compare', models: ['a', 'b:c'] });
  check('#/shared/xyz', { name: 'shared', token: 'xyz' });
  check('#/settings', { name: 'settings' });
  check('#/settings/keys', { name: 'settings', section: 'keys' });
  check('#/settings/models/new', { name: 'settings', section: 'models', item: 'new' });
  check('#/invite/a-b_c', { name: 'invite', token: 'a-b_c' });
  check('#/login', { name: 'login' });
  check('#/login?error=oidc_denied', { name: 'login', error: 'oidc_denied' });
});

test('an address that means nothing is a new chat', () => {
  for (const hash of [
    '',
    '#',
    '#/c/',
    '#/x/1',
    '#/c/a/b/c',
    '#/c/%',
    '#/shared/',
    '#/shared/a/b',
    '#/f/',
    '#/compare/a',
    '#/invite/',
    '#/login/x',
  ]) {
    expect(parse(hash)).toEqual({ name: 'new' });
  }
});

test('settings that do not exist are the list of those that do', () => {
  for (const hash of ['#/settings', '#/settings/', '#/settings/x', '#/settings/x/y']) {
    expect(parse(hash)).toEqual({ name: 'settings' });
  }
});

test('the chat under the settings stays open, and is there when they close', () => {
  router.replace({ name: 'chat', chatId: 'a' });
  router.replace({ name: 'settings', section: 'keys' });
  router.replace({ name: 'settings', section: 'log' });
  expect([router.chatId, router.settings?.section]).toEqual(['a', 'log']);
  router.closeSettings();
  expect([router.route, location.hash]).toEqual([{ name: 'chat', chatId: 'a' }, '#/c/a']);
  router.closeSettings();
  expect(router.chatId).toBe('a');
});
