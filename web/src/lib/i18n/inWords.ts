import { ApiError } from '$lib/api/client';
import { language } from './language.svelte';

/** How the server begins what it says about a file that is no chat. */
const NOT_IMPORTABLE = 'This file cannot be imported. ';

/** What went wrong, for the person: in the page's language where it knows what is meant,
    behind a beginning in that language where it does not; or that the server said nothing. */
export function inWords(error: unknown): string {
  const t = language.words;
  if (!(error instanceof ApiError) || error.unreachable) return t.serverSilent;
  const { message } = error;
  if (message.startsWith(NOT_IMPORTABLE)) {
    return t.notImportable(message.slice(NOT_IMPORTABLE.length));
  }
  // A chat can be busy, and the door can.
  const code = error.code === 'busy' && error.status === 503 ? 'crowded' : error.code;
  return t.serverSentences[message] ?? t.serverSays[code] ?? t.serverDetail(code, message);
}

/** What the server said about an answer, in the page's language where it begins with one of
    the sentences that it always says. */
export function sentenceInWords(said: string): string {
  const known = Object.entries(language.words.serverSentences);
  const [sentence = '', words = ''] = known.find(([it]) => `${said} `.startsWith(`${it} `)) ?? [];
  return words + said.slice(sentence.length);
}
