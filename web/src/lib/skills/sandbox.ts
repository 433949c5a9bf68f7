// What the sandbox of this machine does for programs of skills, as it is summed up.
import type { SandboxView, WallView } from '$lib/api/types';
import { joinWords } from '$lib/format/words';
import type { SkillsMessages } from '$lib/i18n/skills/en';

export interface SandboxSummary {
  /** Something is missing that a reader should know of. */
  isWeak: boolean;
  /** What is as it should be. */
  good?: string;
  /** What is not, and why. */
  bad: string[];
}

/** `code` is the language of the page. */
export function sandboxSummary(
  { walls, why }: SandboxView,
  w: SkillsMessages,
  code: string,
): SandboxSummary {
  const named = (strength: WallView['strength']) => {
    const found = walls.filter((wall) => wall.strength === strength);
    return joinWords(
      found.map(({ wall }) => w.walls[wall]),
      code,
    );
  };
  const [full, partial, none] = [named('full'), named('partial'), named('none')];
  const bad = [
    walls.length === 0 && w.noSandbox,
    partial && w.sandboxPartial(partial),
    none && w.sandboxNone(none),
  ].filter((text) => typeof text === 'string' && text !== '') as string[];
  const isWeak = bad.length > 0;
  return {
    isWeak,
    ...(full && { good: w.sandbox(full) }),
    bad: isWeak && why ? [...bad, why] : bad,
  };
}
