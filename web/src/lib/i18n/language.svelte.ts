// The language of the page: chosen once by the browser's, then by the person.
import { remember, recall } from '$lib/storage';
import { en, type Words } from './en';
import { zhHans } from './zh-hans';
import { zhHant } from './zh-hant';

export const languages = [
  { code: 'en', name: 'English', words: en },
  { code: 'zh-Hans', name: '简体中文', words: zhHans },
  { code: 'zh-Hant', name: '繁體中文', words: zhHant },
] as const;

export type LanguageCode = (typeof languages)[number]['code'];

class Language {
  #code = $state<LanguageCode>(chosen() ?? preferred(navigator.languages));

  get code(): LanguageCode {
    return this.#code;
  }

  get words(): Words {
    return languages.find(({ code }) => code === this.#code)?.words ?? en;
  }

  use(code: LanguageCode): void {
    this.#code = code;
    remember('language', code);
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
  const code = recall('language');
  return languages.find((language) => language.code === code)?.code;
}
