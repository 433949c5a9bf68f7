import { expect, test } from 'vitest';
import type { ContextView, AttachedFile } from '$lib/api/types';
import { estimateContext } from './contextEstimate';
import { estimateTokens } from './tokenEstimate';

test('tokens are estimated by the script of the text', () => {
  const check = (text: string, expected: number) => expect(estimateTokens(text)).toBe(expected);
  check('', 0);
  check('abcd', 1);
  check('abcde', 2);
  check('东京时间', 4);
  check('东京 at 9', 4);
});

const view: ContextView = {
  contextTokens: 1_000,
  systemTokens: 100,
  toolTokens: 200,
  historyTokens: 300,
  tools: [],
  leftOut: [],
  deferred: 0,
};
const file = (kind: AttachedFile['kind'], textChars?: number): AttachedFile => ({
  ...{ id: kind, name: kind, mediaType: '', size: 1, kind, textChars, truncated: false },
});

test('what is written and attached is added to what the server counts', () => {
  const check = (text: string, files: AttachedFile[], total: number, state: string) => {
    const estimate = estimateContext(view, text, files);
    expect([estimate?.total, estimate?.state]).toEqual([total, state]);
  };
  check('', [], 600, 'fine');
  check('abcd'.repeat(201), [], 801, 'near');
  check('', [file('text', 1_700)], 1_025, 'over');
  check('', [file('image')], 1_600, 'over');
  check('', [file('other')], 600, 'fine');
});

test('nothing is said where the server counts nothing, and nothing is warned of without a limit', () => {
  expect(estimateContext(undefined, 'hello', [])).toBeUndefined();
  const unlimited = { ...view, contextTokens: undefined, historyTokens: 1_000_000 };
  expect(estimateContext(unlimited, '', [])?.state).toBe('fine');
});
