import { language } from '../language.svelte';
import { modelsEn, type ModelsWords } from './en';
import { modelsZhHans } from './zh-hans';
import { modelsZhHant } from './zh-hant';

const words = { en: modelsEn, 'zh-Hans': modelsZhHans, 'zh-Hant': modelsZhHant };

/** In the language of the page. */
export function modelsWords(): ModelsWords {
  return words[language.code];
}
