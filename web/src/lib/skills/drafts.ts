// Code that was written and not saved. It is kept for as long as the page lives: whoever leaves by
// the browser's own buttons is not asked first.
import type { ModuleLanguage } from './module';

export interface CodeDraft {
  language: ModuleLanguage;
  code: Record<ModuleLanguage, string>;
}

const drafts = new Map<string, CodeDraft>();

/** Of one skill, or of a new one. */
export const draftOf = (skillId: string | undefined) => drafts.get(skillId ?? '');
export const keepDraft = (skillId: string | undefined, draft: CodeDraft) =>
  drafts.set(skillId ?? '', draft);
export const dropDraft = (skillId: string | undefined) => drafts.delete(skillId ?? '');
