import { expect, test } from 'vitest';
import { localizedSchema } from './builtinParameters';
import { builtinsZhHans } from './zh-hans';
import { parametersZhHans } from './parametersZhHans';
import { parametersZhHant } from './parametersZhHant';

const schema = {
  type: 'object',
  properties: { seconds: { type: 'number', description: 'How long.' }, more: true },
};

test('parameters of built-in tools are told in the language of the page', () => {
  expect(localizedSchema('builtin_sleep', schema, 'zh-Hans')).toEqual({
    type: 'object',
    properties: { seconds: { type: 'number', description: '等多久，以秒计。' }, more: true },
  });
});

test('others keep their own words', () => {
  expect(localizedSchema('builtin_sleep', schema, 'en')).toBe(schema);
  expect(localizedSchema('mcp_a_sleep', schema, 'zh-Hans')).toBe(schema);
  expect(localizedSchema('builtin_sleep', true, 'zh-Hans')).toBe(true);
});

test('both kinds of Chinese have the same words, of tools that there are', () => {
  const names = (texts: object) =>
    Object.entries(texts).map(([tool, words]) => [tool, Object.keys(words as object)]);
  expect(names(parametersZhHans)).toEqual(names(parametersZhHant));
  const known = Object.keys(builtinsZhHans.tools);
  expect(Object.keys(parametersZhHans).filter((tool) => !known.includes(tool))).toEqual([]);
});
