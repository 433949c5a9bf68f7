import { language } from '../language.svelte';
import { attentionEn, type AttentionMessages } from './en';
import { attentionZhHans } from './zh-hans';
import { attentionZhHant } from './zh-hant';

const messages = { en: attentionEn, 'zh-Hans': attentionZhHans, 'zh-Hant': attentionZhHant };

/** In the language of the page. */
export function attentionMessages(): AttentionMessages {
  return messages[language.code];
}
