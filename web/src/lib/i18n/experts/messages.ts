import { language } from '../language.svelte';
import { expertsEn, type ExpertsMessages } from './en';
import { expertsZhHans } from './zh-hans';
import { expertsZhHant } from './zh-hant';

const messages = { en: expertsEn, 'zh-Hans': expertsZhHans, 'zh-Hant': expertsZhHant };

/** In the language of the page. */
export function expertsMessages(): ExpertsMessages {
  return messages[language.code];
}
