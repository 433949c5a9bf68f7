import { language } from '../language.svelte';
import { foldersEn, type FoldersMessages } from './en';
import { foldersZhHans } from './zh-hans';
import { foldersZhHant } from './zh-hant';

const messages = { en: foldersEn, 'zh-Hans': foldersZhHans, 'zh-Hant': foldersZhHant };

/** In the language of the page. */
export function foldersMessages(): FoldersMessages {
  return messages[language.code];
}
