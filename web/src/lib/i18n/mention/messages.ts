import { language } from '../language.svelte';
import { mentionEn, type MentionMessages } from './en';
import { mentionZhHans } from './zh-hans';
import { mentionZhHant } from './zh-hant';

const messages = { en: mentionEn, 'zh-Hans': mentionZhHans, 'zh-Hant': mentionZhHant };

/** In the language of the page. */
export function mentionMessages(): MentionMessages {
  return messages[language.code];
}
