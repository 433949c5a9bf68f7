// Changes of tools that are shown at once: one that the server refuses is put back, and said.
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';
import { toasts } from '$lib/ui/toasts.svelte';

export async function reportFailure(change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    toasts.show(language.messages.notChanged(errorText(error)));
  }
}
