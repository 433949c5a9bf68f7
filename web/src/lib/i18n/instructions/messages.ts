import { language } from '../language.svelte';
import { instructionsEn, type InstructionsMessages } from './en';
import { instructionsZhHans } from './zh-hans';
import { instructionsZhHant } from './zh-hant';

const messages = {
  en: instructionsEn,
  'zh-Hans': instructionsZhHans,
  'zh-Hant': instructionsZhHant,
};

/** In the language of the page. */
export function instructionsMessages(): InstructionsMessages {
  return messages[language.code];
}
