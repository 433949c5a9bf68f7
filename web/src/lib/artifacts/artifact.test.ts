import { expect, test } from 'vitest';
import { delta, FrameBuilder } from '$lib/chat/fixtures';
import { reduce } from '$lib/chat/reduce';
import {
  artifactKind,
  artifactSource,
  downloadName,
  findArtifact,
  previewDocument,
  type ArtifactSource,
} from './artifact';
import { chatArtifacts } from './chatArtifacts';

test('pages and pictures are told from other code', () => {
  const check = (language: string, text: string, kind: string | undefined) =>
    expect(artifactKind(language, text), `${language} ${text}`).toBe(kind);
  check('html', '<p>', 'html');
  check('HTML', '', 'html');
  check('svg', '<svg/>', 'svg');
  check('xml', '<?xml version="1.0"?>\n<!-- c -->\n<svg xmlns="x">', 'svg');
  check('xml', '<rss>', undefined);
  check('', '<!DOCTYPE html><p>', 'html');
  check('', 'svg', undefined);
  check('js', '<svg>', undefined);
});

test('blocks of one kind and name are versions of one artifact', () => {
  const source = (text: string, name?: string): ArtifactSource =>
    artifactSource({ language: 'html', name, text }) as ArtifactSource;
  const all = [
    source('<p>1'),
    source('<p>a', 'a.html'),
    source('<p>2'),
    source('<p>2'),
    source('<title>Shop</title>1'),
    source('<title> Shop </title>2'),
    { kind: 'svg', text: '<svg/>' } satisfies ArtifactSource,
  ];
  const check = (one: ArtifactSource, name: string | undefined, ...versions: string[]) =>
    expect(findArtifact(all, one)).toEqual({ kind: one.kind, name, versions });
  check(source('<p>1'), undefined, '<p>1', '<p>2');
  check(source('<p>a', 'a.html'), 'a.html', '<p>a');
  check(source('<title>Shop</title>1'), 'Shop', '<title>Shop</title>1', '<title> Shop </title>2');
  check(source('<p>elsewhere'), undefined, '<p>1', '<p>2', '<p>elsewhere');
});

test('the answers of a chat are read for them, also inside lists and folded parts', () => {
  const text = [
    '```html a.html\n<p>1\n```',
    '- step\n\n  ```svg\n  <svg>2</svg>\n  ```',
    '<details>\n<summary>More</summary>\n\n```html\n<p>3\n```\n\n</details>',
    '```js\nlet html = "<p>";\n```',
  ].join('\n\n');
  const chat = new FrameBuilder()
    .turnStarted('Draw')
    .messageStarted('m1')
    .messageFinished('m1', { type: 'text', text })
    .replay();
  expect(chatArtifacts(chat.turns)).toEqual([
    { kind: 'html', name: 'a.html', text: '<p>1' },
    { kind: 'svg', text: '<svg>2</svg>' },
    { kind: 'html', text: '<p>3' },
  ]);
});

test('code that is still being written is no version', () => {
  const begun = new FrameBuilder().turnStarted('Draw').messageStarted('m1').replay();
  const written = (text: string) => reduce(begun, delta('m1', 0, 0, text));
  expect(chatArtifacts(written('```html\n<p>1').turns)).toEqual([]);
  expect(chatArtifacts(written('```html\n<p>1\n```').turns)).toEqual([
    { kind: 'html', text: '<p>1' },
  ]);
});

test('a document is whole, and a file has a name that every system takes', () => {
  expect(previewDocument('html', '<p>')).toBe('<!doctype html>\n<p>');
  expect(previewDocument('html', '<!DOCTYPE html><p>')).toBe('<!DOCTYPE html><p>');
  expect(previewDocument('svg', '<?xml version="1.0"?><svg/>')).toMatch(/<\/style>\n<svg\/>$/);
  const check = (name: string | undefined, expected: string) =>
    expect(downloadName({ kind: 'html', name })).toBe(expected);
  check(undefined, 'artifact.html');
  check('../../etc/passwd', 'passwd.html');
  check('Index.HTML', 'Index.HTML');
  check('a<b>:c?', 'a b c.html');
  check('...', 'artifact.html');
});
