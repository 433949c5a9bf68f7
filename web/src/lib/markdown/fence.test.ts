import { expect, test } from 'vitest';
import { fenceInfo } from './fence';

test('language and name are read as models write them', () => {
  const check = (info: string, language: string, name?: string) =>
    expect(fenceInfo(info), info).toEqual(name === undefined ? { language } : { language, name });
  check('', '');
  check('html', 'html');
  check('html index.html', 'html', 'index.html');
  check('html:src/index.html', 'html', 'src/index.html');
  check('html title="My page"', 'html', 'My page');
  check("svg {filename='logo.svg'}", 'svg', 'logo.svg');
  check('js {1,3}', 'js');
  check('python numbered lines', 'python');
  check('ts file=a.ts', 'ts', 'a.ts');
  check(`html title="${'x'.repeat(500)}"`, 'html', 'x'.repeat(80));
});
