// The language of the page: chosen once by the browser's, then by the person.
import { saveSetting, loadSetting } from '$lib/storage';
import { en, type Messages } from './en';
import { zhHans } from './zh-hans';
import { zhHant } from './zh-hant';

export const languages = [
  { code: 'en', name: 'English', messages: en },
  { code: 'zh-Hans', name: '简体中文', messages: zhHans },
  { code: 'zh-Hant', name: '繁體中文', messages: zhHant },
] as const;

export type LanguageCode = (typeof languages)[number]['code'];

class Language {
  #code = $state<LanguageCode>(chosen() ?? preferred(navigator.languages));

  get code(): LanguageCode {
    return this.#code;
  }

  get messages(): Messages {
    return languages.find(({ code }) => code === this.#code)?.messages ?? en;
  }

  use(code: LanguageCode): void {
    this.#code = code;
    saveSetting('language', code);
  }
}

export const language = new Language();

/** The first of the browser's languages that the page speaks. */
export function preferred(tags: readonly string[]): LanguageCode {
  for (const tag of tags) {
    const { language, script, region } = new Intl.Locale(tag).maximize();
    if (language === 'en') return 'en';
    if (language === 'zh' || language === 'yue') {
      return script === 'Hant' || region === 'HK' ? 'zh-Hant' : 'zh-Hans';
    }
  }
  return 'en';
}

function chosen(): LanguageCode | undefined {
  const code = loadSetting('language');
  return languages.find((language) => language.code === code)?.code;
}
