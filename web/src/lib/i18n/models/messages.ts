import { language } from '../language.svelte';
import { modelsEn, type ModelsMessages } from './en';
import { modelsZhHans } from './zh-hans';
import { modelsZhHant } from './zh-hant';

const messages = { en: modelsEn, 'zh-Hans': modelsZhHans, 'zh-Hant': modelsZhHant };

/** In the language of the page. */
export function modelsMessages(): ModelsMessages {
  return messages[language.code];
}
