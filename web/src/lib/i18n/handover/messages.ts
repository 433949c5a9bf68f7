import { language } from '../language.svelte';
import { handoverEn, type HandoverMessages } from './en';
import { handoverZhHans } from './zh-hans';
import { handoverZhHant } from './zh-hant';

const messages = { en: handoverEn, 'zh-Hans': handoverZhHans, 'zh-Hant': handoverZhHant };

/** In the language of the page. */
export function handoverMessages(): HandoverMessages {
  return messages[language.code];
}
