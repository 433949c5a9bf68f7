import { language } from '../language.svelte';
import { localEn, type LocalMessages } from './en';
import { localZhHans } from './zh-hans';
import { localZhHant } from './zh-hant';

const messages = { en: localEn, 'zh-Hans': localZhHans, 'zh-Hant': localZhHant };

/** In the language of the page. */
export function localMessages(): LocalMessages {
  return messages[language.code];
}
