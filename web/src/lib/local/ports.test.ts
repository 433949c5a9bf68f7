import { expect, test } from 'vitest';
import { readPorts } from './endpoints.svelte';

test.each([
  ['8000', [8000]],
  ['8000, 3000-3002', [8000, 3000, 3001, 3002]],
  ['8000;8001 8002、8003，8004；8000', [8000, 8001, 8002, 8003, 8004]],
  ['3000–3001', [3000, 3001]],
  ['0, 65535-65537, 99999, -1, x', [65_535]],
  ['3002-3000', []],
  ['', []],
])('%j are the ports %j', (text, ports) => {
  expect(readPorts(text)).toEqual(ports);
});

test('a long list ends', () => {
  expect(readPorts('1-65535')).toHaveLength(100);
  expect(readPorts('1-99, 101-199, 201-299')).toHaveLength(200);
});
