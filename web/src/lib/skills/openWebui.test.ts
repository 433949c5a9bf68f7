import { expect, test } from 'vitest';
import { parseExport } from './openWebui';

const content = 'class Tools: ...';

test('an export is read, also of one tool alone', () => {
  const entry = { id: 'dice', name: 'Dice', content, meta: { description: 'Rolls.' } };
  const expected = { id: 'dice', name: 'Dice', description: 'Rolls.', content };
  expect(parseExport(JSON.stringify([entry]))).toEqual([expected]);
  expect(parseExport(JSON.stringify(entry))).toEqual([expected]);
});

test('what has no name is called by what else is known', () => {
  const named = (entry: object) => parseExport(JSON.stringify([entry]))?.[0]?.name;
  expect(named({ id: 'dice', content, meta: { manifest: { title: 'Dice of bone' } } })).toBe(
    'Dice of bone',
  );
  expect(named({ id: 'dice', content })).toBe('dice');
  expect(named({ content })).toBe('tool-1');
});

test('other files are no exports', () => {
  const check = (text: string) => expect(parseExport(text)).toBeUndefined();
  check('not JSON');
  check('[]');
  check('{"mcpServers": {}}');
  check('[{"id": "chat", "content": {"text": "no code"}}]');
});
