import { afterEach, expect, test } from 'vitest';
import { ApiError } from '$lib/api/client';
import { errorText, translateServerText } from './errorText';
import { language } from './language.svelte';

afterEach(() => language.use('en'));

const check = (code: string, message: string, status: number, expected: string) =>
  expect(errorText(new ApiError(code, message, status))).toBe(expected);

test('in English the server is quoted', () => {
  check('busy', 'This chat is still answering.', 409, 'This chat is still answering.');
  const broken = 'This file cannot be imported. It is no JSON.';
  check('bad_request', broken, 400, broken);
  expect(errorText(new Error('fetch'))).toBe('Tenon does not answer.');
});

test('in Chinese its code is put into words, and what is special stands behind a beginning', () => {
  language.use('zh-Hans');
  check('not_found', 'There is no such chat.', 404, '找不到，可能已被删除。');
  check('busy', 'This chat is still answering.', 409, '这个对话还在回答，请等它结束或先停止。');
  check('busy', 'Too many people log in.', 503, '此刻登录的人太多，请过几秒再试。');
  check('bad_request', 'A name is too long.', 400, '内容不符合要求：A name is too long.');
  check('unread', 'It is no JSON.', 400, '读取不到它的说明文档：It is no JSON.');
  check('odd', 'Something odd.', 400, '服务器说明：Something odd.');
  check(
    'bad_request',
    'This file cannot be imported. It is no JSON.',
    400,
    '这个文件无法导入。It is no JSON.',
  );
});

test('how an answer ended is told in the language of the page', () => {
  const restarted = 'Tenon was restarted during this answer.';
  expect(translateServerText(restarted)).toBe(restarted);
  language.use('zh-Hant');
  expect(translateServerText(restarted)).toBe('回答過程中 Tenon 重新啟動了。');
  expect(translateServerText(`${restarted} Why.`)).toBe('回答過程中 Tenon 重新啟動了。 Why.');
  expect(translateServerText('Quota exceeded.')).toBe('Quota exceeded.');
});
