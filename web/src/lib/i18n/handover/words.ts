import { language } from '../language.svelte';
import { handoverEn, type HandoverWords } from './en';
import { handoverZhHans } from './zh-hans';
import { handoverZhHant } from './zh-hant';

const words = { en: handoverEn, 'zh-Hans': handoverZhHans, 'zh-Hant': handoverZhHant };

/** In the language of the page. */
export function handoverWords(): HandoverWords {
  return words[language.code];
}
