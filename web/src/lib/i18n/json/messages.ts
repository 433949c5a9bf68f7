import { language } from '../language.svelte';
import { jsonEn, type JsonMessages } from './en';
import { jsonZhHans } from './zh-hans';
import { jsonZhHant } from './zh-hant';

const messages = { en: jsonEn, 'zh-Hans': jsonZhHans, 'zh-Hant': jsonZhHant };

/** In the language of the page. */
export function jsonMessages(): JsonMessages {
  return messages[language.code];
}
