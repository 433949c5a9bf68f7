// Whether the list of chats stands beside the conversation, where there is room for both.
import { loadSetting, saveSetting } from './storage';

class SideList {
  #hidden = $state(loadSetting('sidebar') === 'hidden');

  get hidden(): boolean {
    return this.#hidden;
  }

  toggle(): void {
    this.#hidden = !this.#hidden;
    saveSetting('sidebar', this.#hidden ? 'hidden' : '');
  }
}

export const sideList = new SideList();
