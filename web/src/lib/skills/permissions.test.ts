import { expect, test } from 'vitest';
import type { SkillDiff } from '$lib/api/types';
import { permissions } from './fixtures';
import { permissionGroups, shortHash } from './permissions';

const hash = 'sha256:0123456789abcdef';
const asked = permissions({
  network: true,
  commands: ['python3'],
  scripts: ['main.py'],
  servers: ['api.example.com'],
  variables: [
    { name: 'TOKEN', description: 'Of the API', isSecret: true, isRequired: true, default: null },
    { name: 'UNITS', description: null, default: 'x', isSecret: false, isRequired: false },
  ],
  requirements: { python: ['rich>=13'], node: ['left-pad'] },
});

test('what reaches furthest comes first, and what is not asked for is not there', () => {
  const groups = permissionGroups(asked, { files: [{ path: 'main.py', hash }] });
  expect(groups.map(({ kind, lines }) => [kind, ...lines.map(({ value }) => value)])).toEqual([
    ['network', ''],
    ['server', 'api.example.com'],
    ['command', 'python3'],
    ['script', 'main.py'],
    ['secret', 'TOKEN'],
    ['variable', 'UNITS'],
    ['package', 'rich>=13', 'left-pad'],
  ]);
  expect(groups[3]?.lines[0]?.note).toBe('0123456789ab');
  expect(groups[4]?.lines[0]?.note).toBe('Of the API');
  expect(permissionGroups(permissions())).toEqual([]);
});

const diff: SkillDiff = {
  oldVersion: null,
  newVersion: null,
  oldHash: 'old',
  newHash: 'new',
  instructionsChanged: false,
  tools: [],
  permissions: [
    { kind: 'network', change: 'added', value: '' },
    { kind: 'script', change: 'changed', value: 'main.py' },
    { kind: 'command', change: 'removed', value: 'curl' },
  ],
  files: [{ path: 'main.py', change: 'changed', oldHash: 'x', newHash: hash }],
};

test('an update marks what is new, and still names what is gone', () => {
  const marks = (kind: string) =>
    permissionGroups(asked, { diff })
      .find((group) => group.kind === kind)
      ?.lines.map(({ value, change }) => `${change ?? 'kept'} ${value}`);
  expect(marks('network')).toEqual(['added ']);
  expect(marks('command')).toEqual(['kept python3', 'removed curl']);
  expect(marks('script')).toEqual(['changed main.py']);
  expect(marks('package')).toEqual(['kept rich>=13', 'kept left-pad']);
});

test('of something new nothing is marked', () => {
  const groups = permissionGroups(asked, { diff: { ...diff, oldHash: null } });
  expect(groups.flatMap(({ lines }) => lines).some(({ change }) => change)).toBe(false);
});

test('a hash is shown by its beginning', () => {
  expect(shortHash('abcdef0123456789')).toBe('abcdef012345');
  expect(shortHash('sha256-abcdef0123456789')).toBe('abcdef012345');
});
