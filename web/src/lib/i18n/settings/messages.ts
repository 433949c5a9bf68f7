import { language } from '../language.svelte';
import { settingsEn, type SettingsMessages } from './en';
import { settingsZhHans } from './zh-hans';
import { settingsZhHant } from './zh-hant';

const messages = { en: settingsEn, 'zh-Hans': settingsZhHans, 'zh-Hant': settingsZhHant };

/** In the language of the page. */
export function settingsMessages(): SettingsMessages {
  return messages[language.code];
}
