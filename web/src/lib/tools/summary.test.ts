import { expect, test } from 'vitest';
import type { ToolView } from '$lib/api/types';
import { commonPolicy, switchState, tokensOf } from './summary';

const tool = (more: Partial<ToolView> = {}) =>
  ({ enabled: true, policy: 'allow', ...more }) as ToolView;

test('several are on, off or mixed, whatever is forbidden', () => {
  const on = tool();
  const off = tool({ enabled: false });
  const forbidden = tool({ policy: 'deny', policyBy: 'organisation' });
  const check = (tools: ToolView[], expected: boolean | 'mixed') =>
    expect(switchState(tools)).toBe(expected);
  check([on, on], true);
  check([off, off], false);
  check([on, off], 'mixed');
  check([on, forbidden], true);
  check([off, forbidden], false);
  check([forbidden], false);
  check([], false);
});

test('a policy is common to all or to none', () => {
  expect(commonPolicy([tool(), tool()])).toBe('allow');
  expect(commonPolicy([tool(), tool({ policy: 'ask' })])).toBe('mixed');
});

test('tokens are summed', () => {
  expect(tokensOf([tool({ tokens: 3 }), tool({ tokens: 4 })])).toBe(7);
});
