import { expect, test } from 'vitest';
import { isTyping, keysOf, neighbour, shortcutNames, shortcutOf } from './shortcuts';

const press = (key: string, change: object = {}) => ({
  key,
  code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : '',
  altKey: false,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  isComposing: false,
  keyCode: 0,
  ...change,
});
const chord = { altKey: true, shiftKey: true };

test('a press means one shortcut, or none', () => {
  const check = (what: ReturnType<typeof press>, typing: boolean, expected: string | undefined) =>
    expect(shortcutOf(what, typing)).toBe(expected);
  check(press('k', { ctrlKey: true }), true, 'palette');
  check(press('K', { metaKey: true }), true, 'palette');
  // Firefox has Ctrl+Shift+K.
  check(press('K', { ctrlKey: true, shiftKey: true }), false, undefined);
  check(press('N', chord), true, 'newChat');
  // With Alt a Mac types another character: the place of the key counts.
  check(press('˜', { ...chord, code: 'KeyN' }), true, 'newChat');
  check(press('n'), false, undefined);
  check(press('n', { altKey: true }), false, undefined);
  check(press('<', { ...chord, code: 'Comma' }), false, 'settings');
  check(press('?', { shiftKey: true }), false, 'help');
  check(press('?', { shiftKey: true }), true, undefined);
  check(press('/'), false, 'composer');
  check(press('/'), true, undefined);
  check(press('/', { ctrlKey: true }), false, undefined);
  check(press('Escape'), true, 'stop');
  check(press('Escape', { isComposing: true }), true, undefined);
  check(press('Escape', { keyCode: 229 }), true, undefined);
});

test('every shortcut has keys, and no two have the same', () => {
  for (const mac of [true, false]) {
    const all = shortcutNames.map((name) => keysOf(name, mac).join('+'));
    expect(new Set(all).size).toBe(shortcutNames.length);
  }
  expect(keysOf('newChat', false)).toEqual(['Alt', 'Shift', 'N']);
  expect(keysOf('settings', true)).toEqual(['⌥', '⇧', ',']);
  expect(keysOf('help', true)).toEqual(['?']);
});

test('characters are text in fields, and nowhere else', () => {
  const check = (html: string, expected: boolean) => {
    document.body.innerHTML = html;
    expect(isTyping(document.body.firstElementChild)).toBe(expected);
  };
  check('<input>', true);
  check('<textarea></textarea>', true);
  check('<select></select>', true);
  check('<div contenteditable="true"></div>', true);
  check('<input type="checkbox">', false);
  check('<button></button>', false);
  check('<div></div>', false);
  expect(isTyping(null)).toBe(false);
});

test('the next chat is the one below', () => {
  const chats = [{ id: 'a' }, { id: 'b' }];
  const check = (id: string | undefined, step: 1 | -1, expected: string | undefined) =>
    expect(neighbour(chats, id, step)?.id).toBe(expected);
  check('a', 1, 'b');
  check('b', 1, undefined);
  check('b', -1, 'a');
  check('a', -1, undefined);
  check(undefined, 1, 'a');
  check(undefined, -1, 'b');
});
