import { beforeEach, expect, test } from 'vitest';
import { PatchedHtml, type MountedPart } from './patchedHtml';

let root: HTMLElement;
/** What has become of the parts. */
let log: string[];
let patched: PatchedHtml;

/** Stands in the place of `<b>`. */
class Bold implements MountedPart {
  constructor(readonly target: Element) {}

  update(element: Element): boolean {
    if (element.nodeName !== 'B') return false;
    this.target.textContent = element.textContent;
    return true;
  }

  unmount(): void {
    log.push(`without ${this.target.textContent}`);
  }
}

beforeEach(() => {
  root = document.createElement('div');
  log = [];
  patched = new PatchedHtml(root, 'b', (element) => {
    const part = new Bold(document.createElement('i'));
    part.update(element);
    log.push(`with ${element.textContent}`);
    return { target: part.target, part };
  });
});

test('the HTML becomes what is wanted, whatever was there', () => {
  const texts = [
    '',
    '<p>one</p>',
    '<p>one <em>two</em></p>\n<ul><li>a</li><li>c</li></ul>',
    '<ul><li>a</li><li class="x">b</li></ul>three',
    'three<p class="x">four</p>',
    '<p class="x">four</p><p class="y">five</p>',
  ];
  for (const before of texts) {
    for (const after of texts) {
      patched.set(before);
      patched.set(after);
      expect(root.innerHTML).toBe(after);
    }
  }
});

test('what stays the same stays the same elements, and a text that grows the same text', () => {
  patched.set('<ul><li>one</li><li>two <em>wo</em></li></ul>');
  const elements = [...root.querySelectorAll('*')];
  const word = root.querySelector('em')?.firstChild;
  patched.set('<ul><li>one</li><li>two <em>words</em> more</li><li>three</li></ul><p>four</p>');
  expect([...root.querySelectorAll('*')].slice(0, 4)).toEqual(elements);
  for (const element of elements) expect(root.contains(element)).toBe(true);
  expect(root.querySelector('em')?.firstChild).toBe(word);
});

test('what is selected in a growing text stays selected', () => {
  document.body.append(root);
  patched.set('<p>one two</p>');
  const text = root.querySelector('p')?.firstChild as Text;
  document.getSelection()?.setBaseAndExtent(text, 4, text, 7);
  patched.set('<p>one two three</p>');
  expect(document.getSelection()?.toString()).toBe('two');
  root.remove();
});

test('a part stays mounted while its place does', () => {
  patched.set('<ul><li>a <b>1</b></li></ul>');
  patched.set('<ul><li>a <b>12</b></li><li><b>3</b></li></ul>');
  expect(log).toEqual(['with 1', 'with 3']);
  expect(root.innerHTML).toBe('<ul><li>a <i>12</i></li><li><i>3</i></li></ul>');
  patched.set('<ul><li>a text</li><li><b>3</b></li></ul>');
  expect(log.slice(2)).toEqual(['without 12']);
  patched.set('<p>other</p>');
  expect(log.slice(3)).toEqual(['without 3']);
});

test('the last part is the one that nothing follows', () => {
  const check = (html: string, expected: string | undefined) => {
    patched.set(html);
    const last = patched.lastPart as Bold | undefined;
    expect(last?.target.textContent).toBe(expected);
  };
  check('<ul><li><b>1</b></li><li><b>2</b>\n</li>\n</ul>\n', '2');
  check('<ul><li><b>1</b></li><li>2</li></ul>', undefined);
  check('<b>1</b> text', undefined);
  check('', undefined);
});

test('what its reader opened stays open', () => {
  patched.set('<details><summary>a</summary></details>');
  const details = root.querySelector('details');
  if (details) details.open = true;
  patched.set('<details><summary>a</summary><p>b</p></details>');
  expect(root.querySelector('details')).toBe(details);
  expect(details?.open).toBe(true);
});
