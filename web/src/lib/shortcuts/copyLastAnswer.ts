import { answerText } from '$lib/chat/answer';
import type { Turn } from '$lib/chat/chat';
import { shortcutsMessages } from '$lib/i18n/shortcuts/messages';
import { copyText } from '$lib/ui/clipboard';
import { toasts } from '$lib/ui/toasts.svelte';

/** Says what became of it: nothing on the page changes. */
export async function copyLastAnswer(turns: readonly Turn[]): Promise<void> {
  const w = shortcutsMessages();
  const text = turns.map(answerText).findLast(Boolean);
  if (!text) toasts.show(w.nothingToCopy);
  else toasts.show((await copyText(text)) ? w.answerCopied : w.notCopied);
}
