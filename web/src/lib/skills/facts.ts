// The one-line summary of a skill, and what it waits for.
import type { SkillDetail, SkillVariable, SkillView } from '$lib/api/types';
import type { Messages } from '$lib/i18n/en';
import type { SkillsMessages } from '$lib/i18n/skills/en';

export function skillFacts(
  skill: SkillView,
  w: SkillsMessages,
  t: Pick<Messages, 'toolCount'>,
): string[] {
  const { state, tools, version } = skill;
  const own = tools.filter(({ kind }) => kind !== 'instructions').length;
  return [
    w.states[state],
    version ? w.version(version) : '',
    own > 0 ? t.toolCount(own) : w.instructionsOnly,
  ].filter(Boolean);
}

/** One in full, with what the list knows of it by now: that is read more often. */
export function withNews(detail: SkillDetail, listed: SkillView | undefined): SkillDetail {
  // Of another version, everything else is something else too.
  if (listed?.hash !== detail.hash) return detail;
  // What the list does not have is over.
  const { why: _why, progress: _progress, ...rest } = detail as SkillDetail & { why?: unknown };
  return { ...rest, ...listed };
}

/** Variables that have to be set before it can work. */
export function missingVariables({ permissions, values }: SkillDetail): SkillVariable[] {
  const set = new Set(values.filter(({ isSet }) => isSet).map(({ name }) => name));
  return permissions.variables.filter(
    ({ name, isRequired, default: fallback }) => isRequired && !fallback && !set.has(name),
  );
}

/** It asks for the network, and nobody has allowed it. */
export function lacksNetwork({ permissions, networkAllowed }: SkillView): boolean {
  return permissions.network && !networkAllowed;
}
