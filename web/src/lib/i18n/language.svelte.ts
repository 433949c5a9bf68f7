// The language of the page: chosen once by the browser's, then by the person.
import { loadSetting, onChangedInOtherTab, saveSetting } from '$lib/storage';
import { whenIdle } from '$lib/whenIdle';
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

/** The words of errors, which are many. In English the server's own stand. */
const errorTemplates: Record<LanguageCode, () => Promise<ErrorTemplates>> = {
  en: () => Promise.resolve({}),
  'zh-Hans': async () => (await import('./errors/zh-hans')).errorsZhHans,
  'zh-Hant': async () => (await import('./errors/zh-hant')).errorsZhHant,
};

/** The words of built-in tools. In English likewise. */
const builtinTexts: Record<LanguageCode, () => Promise<BuiltinTexts>> = {
  en: () => Promise.resolve(noBuiltinTexts),
  'zh-Hans': async () => (await import('./builtins/zh-hans')).builtinsZhHans,
  'zh-Hant': async () => (await import('./builtins/zh-hant')).builtinsZhHant,
};

class Language {
  #code = $state<LanguageCode>(chosen() ?? preferred(navigator.languages));
  #errors = $state.raw<ErrorTemplates>({});
  #builtins = $state.raw<BuiltinTexts>(noBuiltinTexts);
  /** Settled when `errors` is that of the language last chosen; without a network it stays empty. */
  errorsLoaded: Promise<void> = Promise.resolve();

  constructor() {
    void this.#loadBuiltins();
  }

  /** Called when there is a page: nobody reads of an error before. */
  start(): void {
    void whenIdle().then(() => this.#loadErrors());
    onChangedInOtherTab('language', () => {
      const code = chosen();
      if (code) this.#change(code);
    });
  }

  get code(): LanguageCode {
    return this.#code;
  }

  get messages(): Messages {
    return languages.find(({ code }) => code === this.#code)?.messages ?? en;
  }

  use(code: LanguageCode): void {
    this.#change(code);
    saveSetting('language', code);
  }

  #change(code: LanguageCode): void {
    this.#code = code;
    void this.#loadBuiltins();
    this.errorsLoaded = this.#loadErrors();
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
    const errors = await errorTemplates[code]().catch(() => ({}));
    if (code === this.#code) this.#errors = errors;
  }

  async #loadBuiltins(): Promise<void> {
    const code = this.#code;
    const builtins = await builtinTexts[code]().catch(() => noBuiltinTexts);
    if (code === this.#code) this.#builtins = builtins;
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
