import { language } from '../language.svelte';
import { formsEn, type FormsWords } from './en';
import { formsZhHans } from './zh-hans';
import { formsZhHant } from './zh-hant';

const words = { en: formsEn, 'zh-Hans': formsZhHans, 'zh-Hant': formsZhHant };

/** In the language of the page. */
export function formsWords(): FormsWords {
  return words[language.code];
}
