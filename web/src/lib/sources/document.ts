// An OpenAPI document, as far as the page looks into it.
import type { DocumentChange } from '$lib/api/types';

/** As much as the server takes. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** Where the title of a document can be expected. */
const TITLE_SEARCH_LENGTH = 20_000;

/** What a document calls itself, for suggesting a name; a guess, as nothing is parsed. */
export function titleIn(document: string): string {
  const text = document.slice(0, TITLE_SEARCH_LENGTH);
  const info = /(?:^|[\s{,"'])info["']?\s*:/.exec(text);
  if (!info) return '';
  const found = /["']?\btitle["']?\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\n#,}]*))/.exec(
    text.slice(info.index),
  );
  return (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
}

/** The first line of what a tool says of itself. */
export function firstLine(description: string): string {
  return description.trim().split('\n', 1)[0] ?? '';
}

export function hasChanged({ added, removed, changed }: DocumentChange): boolean {
  return added.length + removed.length + changed.length > 0;
}
