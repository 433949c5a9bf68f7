import { expect, test } from 'vitest';
import { GrowingCode, MAX_HIGHLIGHTED_CHARS, type Highlight } from './growingCode';
import { highlighter } from './highlighter';
import { languageLabel, languageName } from './languages';

function words(parts: readonly string[]): string {
  const page = new DOMParser().parseFromString(`<pre>\n${parts.join('')}</pre>`, 'text/html');
  return page.body.textContent;
}

const block = 'export function add(a, b) {\n  // Adds.\n  return `${a} + ${b}`;\n}\n\n';
const long = `${block.repeat(60)}/*\n${'words\n\nmore words\n'.repeat(200)}*/\n\n${block.repeat(30)}`;

test('code that grows comes out like code that is there at once', async () => {
  const highlight = await highlighter('javascript');
  const growing = new GrowingCode(highlight);
  for (let length = 0; length < long.length; length += 97)
    growing.parts(long.slice(0, length), true);
  const parts = growing.parts(long, false);
  expect(parts).toEqual(new GrowingCode(highlight).parts(long, false));
  expect(parts.length).toBeGreaterThan(3);
  expect(words(parts)).toBe(long);
  // The same as in one piece: no part begins inside a comment.
  expect(parts.join('')).toBe(highlight(long).html);
});

test('what is finished is not coloured again', async () => {
  const highlight = await highlighter('javascript');
  let seen = 0;
  const counting: Highlight = (code) => {
    seen += code.length;
    return highlight(code);
  };
  const growing = new GrowingCode(counting);
  const code = block.repeat(300);
  let before: string[] = [];
  for (let length = 50; length <= code.length; length += 50) {
    const parts = growing.parts(code.slice(0, length), true);
    expect(parts.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    before = parts;
  }
  // Per step one open part at the most, however long the code is.
  expect(seen / (code.length / 50)).toBeLessThan(2000);
});

test('code without a place to cut is coloured now and then while it is written', () => {
  let times = 0;
  const growing = new GrowingCode((html) => ({ html: (times++, html), complete: false }));
  const code = '{"a": [1, 2, 3]},\n'.repeat(3000);
  let parts: string[] = [];
  for (let length = 20; length <= code.length; length += 20) {
    parts = growing.parts(code.slice(0, length), true);
  }
  expect(words(parts)).toBe(code);
  expect(times).toBeLessThan(700);
});

test('other code instead is coloured anew, and very long code is plain', async () => {
  const growing = new GrowingCode(await highlighter('json'));
  growing.parts('{"a": 1}', true);
  expect(words(growing.parts('[2]', true))).toBe('[2]');
  expect(growing.parts('[<'.repeat(MAX_HIGHLIGHTED_CHARS), false)).toEqual([
    '[&lt;'.repeat(MAX_HIGHLIGHTED_CHARS),
  ]);
});

test('hostile code stays text', async () => {
  for (const name of ['xml', 'markdown', 'javascript', 'php', 'diff']) {
    const highlight = await highlighter(name);
    for (const code of [
      '<img src=x onerror=alert(1)>',
      '</span></code></pre><script>alert(1)</script>',
      '<script>"</script><svg onload=alert(1)>"</script>',
      '&lt;script&gt;"\'`',
    ]) {
      const page = new DOMParser().parseFromString(highlight(code).html, 'text/html');
      const names = new Set([...page.body.querySelectorAll('*')].map(({ localName }) => localName));
      names.delete('span');
      expect([...names], code).toEqual([]);
      expect(page.body.textContent, code).toBe(code);
    }
  }
});

test('a language is known by its names', () => {
  const check = (written: string, name: string | undefined, label: string) =>
    expect([languageName(written), languageLabel(written)], written).toEqual([name, label]);
  check('ts', 'typescript', 'TypeScript');
  check('Rust', 'rust', 'Rust');
  check('html', 'xml', 'HTML');
  check('brainfog', undefined, 'brainfog');
  check('constructor', undefined, 'constructor');
  check('', undefined, '');
});
