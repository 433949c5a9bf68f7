import { language } from '../language.svelte';
import { settingsEn, type SettingsWords } from './en';
import { settingsZhHans } from './zh-hans';
import { settingsZhHant } from './zh-hant';

const words = { en: settingsEn, 'zh-Hans': settingsZhHans, 'zh-Hant': settingsZhHant };

/** In the language of the page. */
export function settingsWords(): SettingsWords {
  return words[language.code];
}
