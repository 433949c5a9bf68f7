import { ApiError } from '$lib/api/client';
import { language } from './language.svelte';

/** How the server begins what it says about a file that is no chat. */
const NOT_IMPORTABLE = 'This file cannot be imported. ';

/** The text of an error for the person: translated where its code or sentence is known, otherwise
    the server's sentence with a translated prefix. */
export function errorText(error: unknown): string {
  const t = language.messages;
  if (!(error instanceof ApiError) || error.unreachable) return t.serverSilent;
  const { message } = error;
  if (message.startsWith(NOT_IMPORTABLE)) {
    return t.notImportable(message.slice(NOT_IMPORTABLE.length));
  }
  // Both a chat and the log-in can be busy.
  const code = error.code === 'busy' && error.status === 503 ? 'crowded' : error.code;
  return t.serverSentences[message] ?? t.serverSays[code] ?? t.serverDetail(code, message);
}

/** Translates a server text that begins with a known sentence. */
export function translateServerText(said: string): string {
  const known = Object.entries(language.messages.serverSentences);
  const [sentence = '', words = ''] = known.find(([it]) => `${said} `.startsWith(`${it} `)) ?? [];
  return words + said.slice(sentence.length);
}
