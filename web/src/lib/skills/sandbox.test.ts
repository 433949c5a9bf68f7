import { expect, test } from 'vitest';
import type { SandboxView, WallView } from '$lib/api/types';
import { skillsEn } from '$lib/i18n/skills/en';
import { sandboxSummary } from './sandbox';

const wall = (wall: WallView['wall'], strength: WallView['strength']): WallView => ({
  wall,
  strength,
});
const summary = (sandbox: SandboxView) => sandboxSummary(sandbox, skillsEn, 'en');

test('walls that stand are named, and those that do not are a warning', () => {
  expect(summary({ walls: [wall('files', 'full'), wall('network', 'full')] })).toEqual({
    isWeak: false,
    good: 'Programs of skills run in a sandbox. Walled off here: files and network.',
    bad: [],
  });
  const walls = [wall('files', 'full'), wall('network', 'none'), wall('limits', 'partial')];
  expect(summary({ walls })).toEqual({
    isWeak: true,
    good: 'Programs of skills run in a sandbox. Walled off here: files.',
    bad: [
      'Only partly walled off on this machine: memory and time.',
      'Not walled off on this machine: network. Install only what you trust.',
    ],
  });
});

test('no sandbox at all is a warning that says why', () => {
  const why = 'the helper of the sandbox could not be started: not found';
  expect(summary({ walls: [], why })).toEqual({ isWeak: true, bad: [skillsEn.noSandbox, why] });
  expect(summary({ walls: [] })).toEqual({ isWeak: true, bad: [skillsEn.noSandbox] });
});
