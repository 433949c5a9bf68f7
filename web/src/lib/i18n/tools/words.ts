import { language } from '../language.svelte';
import { toolsEn, type ToolsWords } from './en';
import { toolsZhHans } from './zh-hans';
import { toolsZhHant } from './zh-hant';

const words = { en: toolsEn, 'zh-Hans': toolsZhHans, 'zh-Hant': toolsZhHant };

/** In the language of the page. */
export function toolsWords(): ToolsWords {
  return words[language.code];
}
