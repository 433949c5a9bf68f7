// The language of the page: chosen once by the browser's, then by the person.
import { saveSetting, loadSetting } from '$lib/storage';
import { noBuiltinTexts, type BuiltinTexts } from './builtins/builtinTexts';
import { en, type Messages } from './en';
import { zhHans } from './zh-hans';
import { zhHant } from './zh-hant';

export const languages = [
  { code: 'en', name: 'English', messages: en },
  { code: 'zh-Hans', name: '简体中文', messages: zhHans },
  { code: 'zh-Hant', name: '繁體中文', messages: zhHant },
] as const;

export type LanguageCode = (typeof languages)[number]['code'];

type ErrorTemplates = Partial<Record<string, string>>;

/** The words of errors, loaded when a language is used. In English the server's own stand. */
const errorTemplates: Record<LanguageCode, () => Promise<ErrorTemplates>> = {
  en: () => Promise.resolve({}),
  'zh-Hans': async () => (await import('./errors/zh-hans')).errorsZhHans,
  'zh-Hant': async () => (await import('./errors/zh-hant')).errorsZhHant,
};

/** The words of built-in tools, loaded like those of errors. */
const builtinTexts: Record<LanguageCode, () => Promise<BuiltinTexts>> = {
  en: () => Promise.resolve(noBuiltinTexts),
  'zh-Hans': async () => (await import('./builtins/zh-hans')).builtinsZhHans,
  'zh-Hant': async () => (await import('./builtins/zh-hant')).builtinsZhHant,
};

class Language {
  #code = $state<LanguageCode>(chosen() ?? preferred(navigator.languages));
  #errors = $state.raw<ErrorTemplates>({});
  #builtins = $state.raw<BuiltinTexts>(noBuiltinTexts);
  /** Settled when `errors` is that of the language; without a network it stays empty. */
  errorsLoaded = this.#loadErrors();

  get code(): LanguageCode {
    return this.#code;
  }

  get messages(): Messages {
    return languages.find(({ code }) => code === this.#code)?.messages ?? en;
  }

  use(code: LanguageCode): void {
    this.#code = code;
    this.errorsLoaded = this.#loadErrors();
    saveSetting('language', code);
  }

  /** Templates by the code of an error. */
  get errors(): ErrorTemplates {
    return this.#errors;
  }

  /** What built-in tools are called. */
  get builtins(): BuiltinTexts {
    return this.#builtins;
  }

  async #loadErrors(): Promise<void> {
    const code = this.#code;
    // Nobody reads them before there is a page.
    await whenIdle();
    const [errors, builtins] = await Promise.all([
      errorTemplates[code]().catch(() => ({})),
      builtinTexts[code]().catch(() => noBuiltinTexts),
    ]);
    if (code !== this.#code) return;
    this.#errors = errors;
    this.#builtins = builtins;
  }
}

/** In browsers that do not say so, as soon as they have done what they are at. */
function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve());
    else setTimeout(resolve);
  });
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
