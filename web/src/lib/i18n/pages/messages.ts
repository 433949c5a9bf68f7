import { language } from '../language.svelte';
import { pagesEn, type PagesMessages } from './en';
import { pagesZhHans } from './zh-hans';
import { pagesZhHant } from './zh-hant';

const messages = { en: pagesEn, 'zh-Hans': pagesZhHans, 'zh-Hant': pagesZhHant };

/** In the language of the page. */
export function pagesMessages(): PagesMessages {
  return messages[language.code];
}
