import { language } from '../language.svelte';
import { formsEn, type FormsMessages } from './en';
import { formsZhHans } from './zh-hans';
import { formsZhHant } from './zh-hant';

const messages = { en: formsEn, 'zh-Hans': formsZhHans, 'zh-Hant': formsZhHant };

/** In the language of the page. */
export function formsMessages(): FormsMessages {
  return messages[language.code];
}
