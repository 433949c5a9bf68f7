import { expect, test } from 'vitest';
import type { ToolView } from '$lib/api/types';
import { lastSeenTools } from './lastSeen';

const tool = (url: string, deviceId = 'here') =>
  ({ source: { local: { url, deviceId } } }) as unknown as ToolView;

test('tools are counted at the address that leads to them', () => {
  const tools = [
    tool('http://localhost:8000/mcp'),
    tool('http://127.0.0.1:8000/mcp/'),
    tool('http://localhost:9000'),
    tool('http://localhost:9000', 'elsewhere'),
    { source: {} } as ToolView,
  ];
  const count = lastSeenTools(tools, ({ local }) => local?.deviceId === 'here');
  const at = (url: string) => count({ url });
  expect(at('http://localhost:8000')).toBe(2);
  expect(at('http://localhost:8000/mcp')).toBe(2);
  expect(at('http://127.0.0.1:9000')).toBe(1);
  expect(at('http://localhost:7000')).toBe(0);
});
