// Modules, as tools are written in the page.
import type { ModuleCode } from '$lib/api/types';

export type ModuleLanguage = NonNullable<ModuleCode['language']>;
/** What comes from outside: only what is looked at is believed. */
export type JsonSchema = Record<string, unknown>;

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
