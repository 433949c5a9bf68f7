import { language } from '../language.svelte';
import { settingsPagesEn, type SettingsPagesMessages } from './en';
import { settingsPagesZhHans } from './zh-hans';
import { settingsPagesZhHant } from './zh-hant';

const messages = {
  en: settingsPagesEn,
  'zh-Hans': settingsPagesZhHans,
  'zh-Hant': settingsPagesZhHant,
};

/** In the language of the page. */
export function settingsPagesMessages(): SettingsPagesMessages {
  return messages[language.code];
}
