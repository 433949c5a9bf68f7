// Which parts of the settings a person has, under which headings.
import type { Section } from '$lib/router.svelte';

interface Standing {
  /** There are accounts here, and this is one. */
  hasAccount: boolean;
  isAdmin: boolean;
}

export type SectionGroupName = 'you' | 'tools' | 'models' | 'team';

export interface SectionGroup {
  name: SectionGroupName;
  sections: Section[];
}

/** Who has a part: everybody, who has an account (a key is an account's), or an admin. */
const owners = {
  account: ({ hasAccount }) => hasAccount,
  admin: ({ isAdmin }) => isAdmin,
  accountAdmin: ({ hasAccount, isAdmin }) => hasAccount && isAdmin,
  everybody: () => true,
} satisfies Record<string, (standing: Standing) => boolean>;

const groups: readonly {
  name: SectionGroupName;
  sections: readonly (readonly [Section, keyof typeof owners])[];
}[] = [
  {
    name: 'you',
    sections: [
      ['account', 'account'],
      ['instructions', 'everybody'],
      ['appearance', 'everybody'],
      ['notifications', 'everybody'],
      ['shortcuts', 'everybody'],
      ['keys', 'account'],
      ['data', 'everybody'],
    ],
  },
  {
    name: 'tools',
    sections: [
      ['servers', 'everybody'],
      ['local', 'everybody'],
      ['skills', 'everybody'],
      ['policies', 'everybody'],
    ],
  },
  {
    name: 'models',
    sections: [
      ['models', 'admin'],
      ['experts', 'everybody'],
      ['prompts', 'everybody'],
    ],
  },
  {
    name: 'team',
    sections: [
      ['people', 'accountAdmin'],
      ['dashboard', 'admin'],
      ['log', 'admin'],
    ],
  },
];

/** Without headings that nothing stands under. */
export function sectionGroupsOf(standing: Standing): SectionGroup[] {
  return groups
    .map(({ name, sections }) => ({
      name,
      sections: sections.flatMap(([section, owner]) => (owners[owner](standing) ? [section] : [])),
    }))
    .filter(({ sections }) => sections.length > 0);
}

export function sectionsOf(standing: Standing): Section[] {
  return sectionGroupsOf(standing).flatMap(({ sections }) => sections);
}

/** The part that an address means: one that this person has, or one that is an account's where
    there are no accounts, which then says how to get one. */
export function sectionFor(
  asked: Section | undefined,
  standing: Standing,
  singleUser: boolean,
): Section {
  const ofAnAccount = asked === 'account' || asked === 'keys';
  if (singleUser && ofAnAccount) return asked;
  const own = sectionsOf(standing);
  return own.find((section) => section === asked) ?? own[0] ?? 'appearance';
}

/** The groups with what is left of them when every word is looked for in what a section is
    about. */
export function findSections(
  groups: readonly SectionGroup[],
  search: string,
  about: (section: Section, group: SectionGroupName) => string,
): SectionGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text: string) => words.every((word) => text.includes(word));
  return groups
    .map(({ name, sections }) => ({
      name,
      sections: sections.filter((section) => matches(about(section, name).toLowerCase())),
    }))
    .filter(({ sections }) => sections.length > 0);
}
