import { language } from '../language.svelte';
import { preferencesEn, type PreferencesMessages } from './en';
import { preferencesZhHans } from './zh-hans';
import { preferencesZhHant } from './zh-hant';

const messages = { en: preferencesEn, 'zh-Hans': preferencesZhHans, 'zh-Hant': preferencesZhHant };

/** In the language of the page. */
export function preferencesMessages(): PreferencesMessages {
  return messages[language.code];
}
