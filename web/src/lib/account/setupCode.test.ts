import { expect, test } from 'vitest';

// The page is opened by a link.
history.replaceState(null, '', '#setup=ABC234');
const { parseSetupCode, setupCode } = await import('./setupCode.svelte');

test('a link loses its code to the page at once', () => {
  expect([setupCode.value, location.hash]).toEqual(['ABC234', '#/']);
  // As when it is pasted into the address of a page that is open already.
  let opened = 0;
  setupCode.onOpened(() => (opened += 1));
  history.replaceState(null, '', '#setup=XYZ789');
  dispatchEvent(new HashChangeEvent('hashchange'));
  expect([setupCode.value, location.hash, opened]).toEqual(['XYZ789', '#/', 1]);
  setupCode.forget();
  dispatchEvent(new HashChangeEvent('hashchange'));
  expect([setupCode.value, opened]).toEqual(['', 1]);
});

test('a code is found in what was pasted, link or not', () => {
  const check = (text: string, expected: string) => expect(parseSetupCode(text)).toBe(expected);
  check('ABC234', 'ABC234');
  check(' abc234\n', 'abc234');
  check('http://127.0.0.1:8366/#setup=ABC234\n', 'ABC234');
  check('', '');
});
