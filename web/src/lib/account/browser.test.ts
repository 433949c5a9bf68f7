import { expect, test } from 'vitest';
import { browserOf } from './browser';

test('a browser is called by its name', () => {
  const check = (agent: string, expected: string) =>
    expect(browserOf(agent).join(', ')).toBe(expected);
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  check('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Linux');
  check(
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0 Safari/537.36`,
    'Chrome, Windows',
  );
  check(
    `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`,
    'Edge, Windows',
  );
  check(
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604.1',
    'Safari, iPhone',
  );
  check(
    `Mozilla/5.0 (Linux; Android 15) ${webkit} Chrome/140.0 Mobile Safari/537.36`,
    'Chrome, Android',
  );
  check('Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605', 'Safari, macOS');
  check('curl/8.5.0', 'curl');
  check('my-tool/1', 'my-tool/1');
  check('', '');
});
