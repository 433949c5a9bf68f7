import { language } from '../language.svelte';
import { traceEn, type TraceMessages } from './en';
import { traceZhHans } from './zh-hans';
import { traceZhHant } from './zh-hant';

const messages = { en: traceEn, 'zh-Hans': traceZhHans, 'zh-Hant': traceZhHant };

/** In the language of the page. */
export function traceMessages(): TraceMessages {
  return messages[language.code];
}
