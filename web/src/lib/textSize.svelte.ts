// How large the text of conversations is. The sizes are in app.css; public/theme.js applies the
// choice before the first paint, so the key must be the same there.
import { loadSetting, saveSetting } from './storage';

export const textSizes = ['small', 'normal', 'large'] as const;
export type TextSizeName = (typeof textSizes)[number];

class TextSize {
  #name = $state<TextSizeName>(textSizes.find((name) => name === loadSetting('text')) ?? 'normal');

  get name(): TextSizeName {
    return this.#name;
  }

  use(name: TextSizeName): void {
    this.#name = name;
    saveSetting('text', name === 'normal' ? '' : name);
    if (name === 'normal') delete document.documentElement.dataset.text;
    else document.documentElement.dataset.text = name;
  }
}

export const textSize = new TextSize();
