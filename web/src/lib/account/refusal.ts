// What the server would not do about an account, in the language of the page.
import { ApiError } from '$lib/api/client';
import { entranceWords } from '$lib/i18n/entrance/words';
import { inWords } from '$lib/i18n/inWords';
import { language } from '$lib/i18n/language.svelte';

export function sayRefusal(error: unknown): string {
  if (!(error instanceof ApiError) || error.unreachable) return language.words.silentTryAgain;
  return entranceWords().refusals[error.code] ?? inWords(error);
}
