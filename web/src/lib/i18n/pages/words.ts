import { language } from '../language.svelte';
import { pagesEn, type PagesWords } from './en';
import { pagesZhHans } from './zh-hans';
import { pagesZhHant } from './zh-hant';

const words = { en: pagesEn, 'zh-Hans': pagesZhHans, 'zh-Hant': pagesZhHant };

/** In the language of the page. */
export function pagesWords(): PagesWords {
  return words[language.code];
}
