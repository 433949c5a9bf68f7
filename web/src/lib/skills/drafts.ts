// Code that was written and not saved. It is kept for as long as the page lives: whoever leaves by
// the browser's own buttons is not asked first.
import type { ModuleLanguage } from './module';

export interface CodeDraft {
  language: ModuleLanguage;
  code: Record<ModuleLanguage, string>;
}

const drafts = new Map<string, CodeDraft>();

/** By the id of a skill, or by what a new one began with. */
export const draftOf = (key: string) => drafts.get(key);
export const keepDraft = (key: string, draft: CodeDraft) => drafts.set(key, draft);
export const dropDraft = (key: string) => drafts.delete(key);
