// Light, dark, or what the system says. The colours are in app.css; this only
// decides which half of them is used. public/theme.js does it before the first paint.
import { loadSetting, saveSetting } from './storage';

export const themes = ['system', 'light', 'dark'] as const;
export type ThemeName = (typeof themes)[number];

class Theme {
  #name = $state<ThemeName>(themes.find((name) => name === loadSetting('theme')) ?? 'system');

  get name(): ThemeName {
    return this.#name;
  }

  use(name: ThemeName): void {
    this.#name = name;
    saveSetting('theme', name === 'system' ? '' : name);
    if (name === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    // The frame of an installed page has the colour of the page.
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')) {
      const own = meta.dataset.of ?? '';
      meta.media =
        name === 'system' ? `(prefers-color-scheme: ${own})` : own === name ? 'all' : 'not all';
    }
  }
}

export const theme = new Theme();
