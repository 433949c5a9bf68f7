import { language } from '../language.svelte';
import { toolPanelEn, type ToolPanelMessages } from './en';
import { toolPanelZhHans } from './zh-hans';
import { toolPanelZhHant } from './zh-hant';

const messages = { en: toolPanelEn, 'zh-Hans': toolPanelZhHans, 'zh-Hant': toolPanelZhHant };

/** In the language of the page. */
export function toolPanelMessages(): ToolPanelMessages {
  return messages[language.code];
}
