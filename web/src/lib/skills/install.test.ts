import { expect, test } from 'vitest';
import { previewItem } from './fixtures';
import { chosenItems, fileKind, previewState, uploadOf } from './install';

const diffOf = (oldHash: string | null, newHash: string) => ({
  ...previewItem(newHash).diff,
  oldHash,
});

test('a skill of a preview is new, another version, or there already', () => {
  expect(previewState(previewItem('a'))).toBe('new');
  expect(previewState(previewItem('b', { installed: 'x', diff: diffOf('a', 'b') }))).toBe('update');
  expect(previewState(previewItem('a', { installed: 'x', diff: diffOf('a', 'a') }))).toBe('same');
});

test('what is chosen can be installed by whoever asks', () => {
  const items = [
    previewItem('plain'),
    previewItem('runs', { needsAdmin: true }),
    previewItem('there', { installed: 'x', diff: diffOf('there', 'there') }),
    previewItem('passed'),
  ];
  const check = (isAdmin: boolean, expected: string[]) =>
    expect(chosenItems(items, new Set(['passed']), isAdmin).map(({ hash }) => hash)).toEqual(
      expected,
    );
  check(true, ['plain', 'runs']);
  check(false, ['plain']);
});

test('a file is told by its name', () => {
  const check = (name: string, expected: string) => expect(fileKind(name)).toBe(expected);
  check('words.zip', 'skill');
  check('words.skill', 'skill');
  check('words.tar.gz', 'skill');
  check('SKILL.md', 'skill');
  check('tools-export-1.JSON', 'export');
  check('weather.py', 'module');
  check('dice.mjs', 'module');
});

test('a file is sent as base64, whatever is in it', async () => {
  const file = new File([new Uint8Array([0, 255, 10, 13])], 'words.zip');
  expect(await uploadOf(file)).toEqual({ fileName: 'words.zip', content: 'AP8KDQ==' });
});
