import { language } from '../language.svelte';
import { compareEn, type CompareMessages } from './en';
import { compareZhHans } from './zh-hans';
import { compareZhHant } from './zh-hant';

const messages = { en: compareEn, 'zh-Hans': compareZhHans, 'zh-Hant': compareZhHant };

/** In the language of the page. */
export function compareMessages(): CompareMessages {
  return messages[language.code];
}
