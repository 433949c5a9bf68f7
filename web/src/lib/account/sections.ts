// Which parts of the settings a person has.
import type { Section } from '$lib/router.svelte';

interface Standing {
  /** There are accounts here, and this is one. */
  hasAccount: boolean;
  isAdmin: boolean;
}

export function sectionsOf({ hasAccount, isAdmin }: Standing): Section[] {
  return [
    ...(hasAccount ? ['account' as const] : []),
    // A key is an account's.
    ...(hasAccount ? ['keys' as const] : []),
    'experts',
    'instructions',
    'prompts',
    'skills',
    'servers',
    ...(hasAccount && isAdmin ? ['people' as const] : []),
    ...(isAdmin ? ['dashboard' as const, 'log' as const] : []),
  ];
}

/** The part that an address means: one that this person has, or one that is an account's where
    there are no accounts, which then says how to get one. */
export function sectionFor(asked: Section, standing: Standing, singleUser: boolean): Section {
  const ofAnAccount = asked === 'account' || asked === 'keys';
  if (singleUser && ofAnAccount) return asked;
  return sectionsOf(standing).includes(asked) ? asked : firstSection(standing);
}

export function firstSection(standing: Standing): Section {
  return sectionsOf(standing)[0] ?? 'account';
}
