import { language } from '../language.svelte';
import { sourcesEn, type SourcesMessages } from './en';
import { sourcesZhHans } from './zh-hans';
import { sourcesZhHant } from './zh-hant';

const messages = { en: sourcesEn, 'zh-Hans': sourcesZhHans, 'zh-Hant': sourcesZhHant };

/** In the language of the page. */
export function sourcesMessages(): SourcesMessages {
  return messages[language.code];
}
