import { readFileSync, readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { ApiError } from '$lib/api/client';
import type { ErrorDetail, ToolError } from '$lib/api/types';
import { errorsEn, type ErrorCode } from './errors/en';
import { localToolsTooLong } from './errors/localToolsTooLong';
import { errorsZhHans } from './errors/zh-hans';
import { errorsZhHant } from './errors/zh-hant';
import { describeCallError, describeError, errorText, fillTemplate } from './errorText';
import { language } from './language.svelte';

afterEach(() => language.use('en'));

const codes = Object.keys(errorsEn) as ErrorCode[];
const paramsOf = (template: string) =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

test.each([
  ['zh-Hans', errorsZhHans],
  ['zh-Hant', errorsZhHant],
])('%s has words for every code, with no parameter that the code does not have', (_, words) => {
  expect(Object.keys(words).sort()).toEqual([...codes].sort());
  for (const code of codes) {
    const known = new Set(paramsOf(errorsEn[code]));
    expect(words[code], code).not.toBe('');
    expect(
      paramsOf(words[code]).filter((name) => !known.has(name)),
      code,
    ).toEqual([]);
    // What a server said, and which of many it was, is not left out.
    const isShown = (name: string) => ['said', 'why', 'cause', 'message'].includes(name);
    expect([...known].filter(isShown).filter((name) => !words[code].includes(`{${name}}`))).toEqual(
      [],
    );
  }
});

test('Traditional words have no character that is only Simplified', () => {
  const simplified = /[这个对话还请没说务录码讯钥应发与设网络执调间内错误选变]/;
  const traditional = /[這對話還請沒說務錄碼訊鑰應發與設網絡執調間內錯誤選變]/;
  const isMixed = (text: string) => simplified.test(text.replaceAll('個', ''));
  expect(codes.filter((code) => isMixed(errorsZhHant[code].replace(/\{\w+\}/g, '')))).toEqual([]);
  expect(codes.filter((code) => traditional.test(errorsZhHans[code]))).toEqual([]);
});

/** The longest literal part of a template, and a pattern of the sentences made from it. */
function patternOf(template: string): { longest: string; pattern: RegExp } {
  const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const fill = (text: string) =>
    text
      .split(/\{\w+\}/)
      .map(escape)
      .join('.{0,80}?');
  const parts = template.split(/(\[[^\]]*\])/);
  const pattern = parts.map((part) =>
    part.startsWith('[') ? `(?:${fill(part.slice(1, -1))})?` : fill(part),
  );
  const literals = template.replace(/\[[^\]]*\]/g, '{}').split(/\{\w*\}/);
  const longest = literals.reduce((one, other) => (other.length > one.length ? other : one));
  return { longest, pattern: new RegExp(pattern.join('')) };
}

test('no sentence of the server stands anywhere else, and none is compared', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const code = files.filter(
    (file) => /\.(ts|svelte)$/.test(file) && !/i18n\/|api\/types/.test(file),
  );
  expect(code.length).toBeGreaterThan(100);
  const sentences = codes
    .map((code) => patternOf(errorsEn[code]))
    .filter(({ longest }) => longest.trim().length >= 16);
  const compared =
    /(\.(message|problem)|(describeError|errorText|whyOf)\([^)]*\)) *([!=]==|\.(startsWith|includes|match|endsWith)\()|[!=]== *[\w.?]+\.(message|problem)\b(?!\.)/;
  for (const file of code) {
    const text = readFileSync(`src/${file}`, 'utf8');
    const found = sentences.filter(
      ({ longest, pattern }) => text.includes(longest) && pattern.test(text),
    );
    expect(found, file).toEqual([]);
    if (file.endsWith('.test.ts')) continue;
    expect(compared.exec(text)?.[0], file).toBeUndefined();
  }
});

test('what the page finds out itself has the words of its code', () => {
  const { code, message, params } = localToolsTooLong(20);
  expect(fillTemplate(errorsEn[code as ErrorCode], params as Record<string, string>)).toBe(message);
});

const wrongKey: ErrorDetail = {
  code: 'model_key_refused',
  message: 'h refused the key ("no"). Check the key of M, or enter a new one.',
  params: { host: 'h', name: 'M', said: 'no' },
};

test('an error is told in the language of the page', async () => {
  expect(describeError(wrongKey)).toBe(wrongKey.message);
  language.use('zh-Hans');
  await language.errorsLoaded;
  expect(describeError(wrongKey)).toBe('h 拒绝了密钥（“no”）。请检查 M 的密钥，或输入新的。');
  const silent = { ...wrongKey, params: { host: 'h', name: 'M', said: '' } };
  expect(describeError(silent)).toBe('h 拒绝了密钥。请检查 M 的密钥，或输入新的。');
  const resumed = { code: 'answer_cannot_resume', message: '', params: { why: silent } };
  expect(describeError(resumed)).toBe(
    'Tenon 重新启动后无法接着完成这个回答。h 拒绝了密钥。请检查 M 的密钥，或输入新的。',
  );
  language.use('zh-Hant');
  await language.errorsLoaded;
  expect(describeError(wrongKey)).toBe('h 拒絕了金鑰（「no」）。請檢查 M 的金鑰，或輸入新的。');
  expect(describeError({ code: 'new', message: 'New.', params: {} })).toBe('伺服器說明：New.');
  expect(describeError({ code: 'other', message: 'Old.', params: {} })).toBe('Old.');
});

test('a list of errors is told one after the other', async () => {
  const missing = (field: string) => ({ code: 'input_missing', message: '', params: { field } });
  const invalid: ToolError = {
    kind: 'invalid_input',
    code: 'call_input_invalid',
    message: "The input does not fit the tool's schema: `a` is missing; `b` is missing.",
    params: { problems: [missing('`a`'), missing('`b`')] },
  };
  const status = (address: string) => ({
    code: 'document_status',
    message: '',
    params: { address, status: '404 Not Found' },
  });
  const notFound = {
    code: 'document_not_found',
    message: '',
    params: { answers: [status('/a'), status('/b')] },
  };
  expect(describeCallError(invalid)).toBe(invalid.message);
  language.use('zh-Hans');
  await language.errorsLoaded;
  expect(describeCallError(invalid)).toBe('输入不符合这个工具的格式定义：缺少 `a`；缺少 `b`。');
  expect(describeError(notFound)).toBe(
    '没有找到 OpenAPI 文档。/a 返回 404 Not Found。/b 返回 404 Not Found。',
  );
  const said: ToolError = { kind: 'failed', message: 'No such page.', params: {} };
  expect(describeCallError(said)).toBe('No such page.');
});

test('what is no answer of the server has words of its own', () => {
  expect(errorText(new Error('fetch'))).toBe('Tenon does not answer.');
  expect(errorText(ApiError.of(wrongKey))).toBe(wrongKey.message);
});

test('a part with an empty parameter is left out, and what is filled in is not read again', () => {
  const check = (params: Record<string, string>, expected: string) =>
    expect(fillTemplate('{a}[ ({b})][ {c}]', params)).toBe(expected);
  check({ a: 'A', b: '', c: 'C' }, 'A C');
  check({ a: '{b}', b: '[{a}]', c: '' }, '{b} ([{a}])');
});
