import { expect, test } from 'vitest';
import { matchesAny } from './toolPattern';

test('a star stands for any characters, as it does on the server', () => {
  const check = (pattern: string, toolId: string, expected: boolean) =>
    expect(matchesAny(['nothing', pattern], toolId), `${pattern} ${toolId}`).toBe(expected);
  check('builtin_add', 'builtin_add', true);
  check('builtin_add', 'builtin_add_2', false);
  check('*', 'anything', true);
  check('mcp_*_log', 'mcp_git_log', true);
  check('mcp_*_log', 'mcp_log', false);
  check('*file*', 'builtin_read_file', true);
  check('a.b-*', 'axb-c', false);
  expect(matchesAny([], 'anything')).toBe(false);
});
