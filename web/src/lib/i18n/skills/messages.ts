import { language } from '../language.svelte';
import { skillsEn, type SkillsMessages } from './en';
import { skillsZhHans } from './zh-hans';
import { skillsZhHant } from './zh-hant';

const messages = { en: skillsEn, 'zh-Hans': skillsZhHans, 'zh-Hant': skillsZhHant };

/** In the language of the page. */
export function skillsMessages(): SkillsMessages {
  return messages[language.code];
}
