import type { Words } from '../en';
import { language } from '../language.svelte';
import { entranceEn, type EntranceWords } from './en';
import { entranceZhHans } from './zh-hans';
import { entranceZhHant } from './zh-hant';

const words = { en: entranceEn, 'zh-Hans': entranceZhHans, 'zh-Hant': entranceZhHant };

/** The words of the page and those of the door, in the language of the page. */
export function entranceWords(): Words & EntranceWords {
  return { ...language.words, ...words[language.code] };
}
