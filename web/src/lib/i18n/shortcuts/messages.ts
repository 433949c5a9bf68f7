import { language } from '../language.svelte';
import { shortcutsEn, type ShortcutsMessages } from './en';
import { shortcutsZhHans } from './zh-hans';
import { shortcutsZhHant } from './zh-hant';

const messages = { en: shortcutsEn, 'zh-Hans': shortcutsZhHans, 'zh-Hant': shortcutsZhHant };

/** In the language of the page. */
export function shortcutsMessages(): ShortcutsMessages {
  return messages[language.code];
}
