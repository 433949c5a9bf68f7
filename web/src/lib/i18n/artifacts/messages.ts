import { language } from '../language.svelte';
import { artifactsEn, type ArtifactsMessages } from './en';
import { artifactsZhHans } from './zh-hans';
import { artifactsZhHant } from './zh-hant';

const messages = { en: artifactsEn, 'zh-Hans': artifactsZhHans, 'zh-Hant': artifactsZhHant };

/** In the language of the page. */
export function artifactsMessages(): ArtifactsMessages {
  return messages[language.code];
}
