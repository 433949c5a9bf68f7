import { language } from '../language.svelte';
import { localEn, type LocalWords } from './en';
import { localZhHans } from './zh-hans';
import { localZhHant } from './zh-hant';

const words = { en: localEn, 'zh-Hans': localZhHans, 'zh-Hant': localZhHant };

/** In the language of the page. */
export function localWords(): LocalWords {
  return words[language.code];
}
