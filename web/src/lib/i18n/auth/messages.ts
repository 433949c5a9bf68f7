import type { Messages } from '../en';
import { language } from '../language.svelte';
import { authEn, type AuthMessages } from './en';
import { authZhHans } from './zh-hans';
import { authZhHant } from './zh-hant';

const messages = { en: authEn, 'zh-Hans': authZhHans, 'zh-Hant': authZhHant };

/** The texts of the page and of the log-in pages, in the language of the page. */
export function authMessages(): Messages & AuthMessages {
  return { ...language.messages, ...messages[language.code] };
}
