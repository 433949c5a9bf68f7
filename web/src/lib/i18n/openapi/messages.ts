import { language } from '../language.svelte';
import { openapiEn, type OpenapiMessages } from './en';
import { openapiZhHans } from './zh-hans';
import { openapiZhHant } from './zh-hant';

const messages = { en: openapiEn, 'zh-Hans': openapiZhHans, 'zh-Hant': openapiZhHant };

/** In the language of the page. */
export function openapiMessages(): OpenapiMessages {
  return messages[language.code];
}
