import { expect, test } from 'vitest';
import { withoutKeywords } from './description';

test('words for finding a tool are not read', () => {
  const check = (text: string, expected: string) => expect(withoutKeywords(text)).toBe(expected);
  check('Calculates. (计算, 計算, 算一下)', 'Calculates.');
  check('Tells the time（时间、時間、几点）', 'Tells the time');
  check('Reads a file (at most 1 MB).', 'Reads a file (at most 1 MB).');
  check('Adds numbers (integers, fractions)', 'Adds numbers (integers, fractions)');
  check('读取文件（文本）', '读取文件（文本）');
  check('', '');
});
