import { language } from '../language.svelte';
import { sharingEn, type SharingMessages } from './en';
import { sharingZhHans } from './zh-hans';
import { sharingZhHant } from './zh-hant';

const messages = { en: sharingEn, 'zh-Hans': sharingZhHans, 'zh-Hant': sharingZhHant };

/** In the language of the page. */
export function sharingMessages(): SharingMessages {
  return messages[language.code];
}
