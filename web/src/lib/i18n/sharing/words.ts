import { language } from '../language.svelte';
import { sharingEn, type SharingWords } from './en';
import { sharingZhHans } from './zh-hans';
import { sharingZhHant } from './zh-hant';

const words = { en: sharingEn, 'zh-Hans': sharingZhHans, 'zh-Hant': sharingZhHant };

/** In the language of the page. */
export function sharingWords(): SharingWords {
  return words[language.code];
}
