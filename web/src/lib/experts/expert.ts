// How an expert is shown: those that come with Tenon in the language of the page.
import type { ExpertView } from '$lib/api/types';
import { expertsMessages } from '$lib/i18n/experts/messages';

type Shown = Pick<ExpertView, 'builtin' | 'name' | 'title' | 'description' | 'starters'>;
type BuiltinWords = Pick<ExpertView, 'title' | 'description'> & { starters: readonly string[] };

export function expertTitle(expert: Shown): string {
  return builtinWords(expert)?.title ?? expert.title;
}

export function expertDescription(expert: Shown): string {
  return builtinWords(expert)?.description ?? expert.description;
}

export function expertStarters(expert: Shown): readonly string[] {
  return builtinWords(expert)?.starters ?? expert.starters;
}

/** A later version of the server may bring experts that this page has no words for. */
function builtinWords({ builtin, name }: Shown): BuiltinWords | undefined {
  const words: Partial<Record<string, BuiltinWords>> = expertsMessages().builtin;
  return builtin ? words[name] : undefined;
}
