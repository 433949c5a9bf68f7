// Answers to calls that wait for a person.
import { api, ApiError } from '$lib/api/client';
import type { AnswerForm, CallId, Verdict } from '$lib/api/types';
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';
import type { Toolbox } from '$lib/tools/toolbox.svelte';
import { toasts } from '$lib/ui/toasts.svelte';

/** Decides about a call that waits. */
export async function answerCall(
  toolbox: Toolbox,
  callId: CallId,
  verdict: Verdict,
): Promise<void> {
  try {
    await api.answerCall(callId, verdict);
    if (verdict !== 'once') await toolbox.refresh();
  } catch (error) {
    // It was answered elsewhere, and the event of that is on its way.
    if (error instanceof ApiError && error.status === 409) return;
    toasts.show(language.messages.notAnswered(errorText(error)));
  }
}

/** Answers what a tool asks while it runs. Fails with what the server said: the form shows it. */
export async function answerForm(callId: CallId, answer: AnswerForm): Promise<void> {
  try {
    await api.answerForm(callId, answer);
  } catch (error) {
    // It was answered elsewhere or is over, and the event of that is on its way.
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}
