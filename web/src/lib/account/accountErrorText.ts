// Error texts for account actions, in the language of the page.
import { ApiError } from '$lib/api/client';
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';

export function accountErrorText(error: unknown): string {
  if (!(error instanceof ApiError) || error.unreachable) return language.messages.silentTryAgain;
  return errorText(error);
}
