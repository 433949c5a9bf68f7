import { language } from '../language.svelte';
import { toolsEn, type ToolsMessages } from './en';
import { toolsZhHans } from './zh-hans';
import { toolsZhHant } from './zh-hant';

const messages = { en: toolsEn, 'zh-Hans': toolsZhHans, 'zh-Hant': toolsZhHant };

/** In the language of the page. */
export function toolsMessages(): ToolsMessages {
  return messages[language.code];
}
