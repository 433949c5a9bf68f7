import { language } from '../language.svelte';
import { sourcesEn, type SourcesWords } from './en';
import { sourcesZhHans } from './zh-hans';
import { sourcesZhHant } from './zh-hant';

const words = { en: sourcesEn, 'zh-Hans': sourcesZhHans, 'zh-Hant': sourcesZhHant };

/** In the language of the page. */
export function sourcesWords(): SourcesWords {
  return words[language.code];
}
