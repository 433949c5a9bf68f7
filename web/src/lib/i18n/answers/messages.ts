import { language } from '../language.svelte';
import { answersEn, type AnswersMessages } from './en';
import { answersZhHans } from './zh-hans';
import { answersZhHant } from './zh-hant';

const messages = { en: answersEn, 'zh-Hans': answersZhHans, 'zh-Hant': answersZhHant };

/** In the language of the page. */
export function answersMessages(): AnswersMessages {
  return messages[language.code];
}
