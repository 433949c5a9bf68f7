// What is decided about the chat that is about to begin, before the server has it.
import type { ChatSettings } from '$lib/api/types';

export const noSettings: ChatSettings = { instructions: '', parameters: {} };

export interface NewChatDecisions {
  temporary: boolean;
  settings: ChatSettings;
}

export class NewChat {
  /** It is to be in no list, and deleted when it is left. */
  temporary = $state(false);
  settings = $state.raw<ChatSettings>(noSettings);

  /** Takes what was decided: the next new chat begins afresh. */
  take(): NewChatDecisions {
    const { temporary, settings } = this;
    this.set({ temporary: false, settings: noSettings });
    return { temporary, settings };
  }

  set({ temporary, settings }: NewChatDecisions): void {
    this.temporary = temporary;
    this.settings = settings;
  }
}
