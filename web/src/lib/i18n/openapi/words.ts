import { language } from '../language.svelte';
import { openapiEn, type OpenapiWords } from './en';
import { openapiZhHans } from './zh-hans';
import { openapiZhHant } from './zh-hant';

const words = { en: openapiEn, 'zh-Hans': openapiZhHans, 'zh-Hant': openapiZhHant };

/** In the language of the page. */
export function openapiWords(): OpenapiWords {
  return words[language.code];
}
