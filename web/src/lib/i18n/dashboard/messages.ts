import { language } from '../language.svelte';
import { dashboardEn, type DashboardMessages } from './en';
import { dashboardZhHans } from './zh-hans';
import { dashboardZhHant } from './zh-hant';

const messages = { en: dashboardEn, 'zh-Hans': dashboardZhHans, 'zh-Hant': dashboardZhHant };

/** In the language of the page. */
export function dashboardMessages(): DashboardMessages {
  return messages[language.code];
}
