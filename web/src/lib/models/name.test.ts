import { expect, test } from 'vitest';
import { shortName } from './name';

test('an id is shortened to its end, and what a person wrote is not', () => {
  const check = (name: string, expected: string) => expect(shortName(name)).toBe(expected);
  check('some-organisation/llama-3', 'llama-3');
  check('hub/some-organisation/llama-3:q4', 'llama-3:q4');
  check('gpt-x', 'gpt-x');
  check('GPT / work', 'GPT / work');
  check('llama/', 'llama/');
  check('内置助手', '内置助手');
});
