import { language } from '../language.svelte';
import { speechEn, type SpeechMessages } from './en';
import { speechZhHans } from './zh-hans';
import { speechZhHant } from './zh-hant';

const messages = { en: speechEn, 'zh-Hans': speechZhHans, 'zh-Hant': speechZhHant };

/** In the language of the page. */
export function speechMessages(): SpeechMessages {
  return messages[language.code];
}
