// Chats that became ready, or began to wait for an answer, while the page was in the background:
// counted in the title of the page and, where the person wants it, told by a notification.
import type { ChatId, ChatSummary } from '$lib/api/types';
import { truncateTitle } from '$lib/format/truncate';
import { attentionMessages } from '$lib/i18n/attention/messages';
import { language } from '$lib/i18n/language.svelte';
import { loadSetting, saveSetting } from '$lib/storage';
import { toasts } from '$lib/ui/toasts.svelte';
import { askPermission, permission, showNotification } from './notification';

/** A turn of this length is one that people look away from. */
export const LONG_TURN_MS = 20_000;

/** Time to read it and to decide. */
const OFFER_MS = 20_000;

type WatchedChat = Pick<ChatSummary, 'id' | 'title' | 'running' | 'asking'>;

export class Attention {
  /** Chats whose answer became ready and was not looked at yet. */
  unseen = $state.raw<ReadonlySet<ChatId>>(new Set());
  #on = $state(false);
  #chats = new Map<ChatId, { running: boolean; asking: boolean; since: number }>();

  /** Whether this person is notified in this browser. */
  get on(): boolean {
    return this.#on;
  }

  /** The page knows now whom it is for, and so what they chose. */
  enter(): void {
    this.#on = loadSetting('notifications') === 'on' && permission() === 'granted';
  }

  /** Whether they are notified from now on: the browser may not let them. */
  async use(on: boolean): Promise<boolean> {
    this.#on = on && (await askPermission()) === 'granted';
    saveSetting('notifications', this.#on ? 'on' : '');
    return this.#on;
  }

  /** The page is looked at again. */
  seen(): void {
    if (this.unseen.size > 0) this.unseen = new Set();
  }

  /** A chat as it is now. What it was before is what this page saw last. */
  take({ id, title, running, asking }: WatchedChat): void {
    const before = this.#chats.get(id);
    const now = running !== undefined;
    const since = before?.running ? before.since : Date.now();
    this.#chats.set(id, { running: now, asking, since });
    if (!before) return;
    if (asking && !before.asking) this.#tell(id, attentionMessages().asks(named(title)));
    if (!before.running || now) return;
    if (isAway()) this.unseen = new Set(this.unseen).add(id);
    this.#tell(id, attentionMessages().ready(named(title)));
    if (Date.now() - before.since >= LONG_TURN_MS) this.#offer();
  }

  #tell(id: ChatId, text: string): void {
    if (this.#on && isAway()) showNotification(text, id);
  }

  /** Once: who does not want it is not asked again. */
  #offer(): void {
    if (this.#on || permission() !== 'default' || loadSetting('notifications.offered')) return;
    saveSetting('notifications.offered', 'yes');
    const { offer, accept } = attentionMessages();
    toasts.show(offer, { label: accept, run: () => void this.use(true) }, OFFER_MS);
  }
}

function named(title: string): string {
  return truncateTitle(title || language.messages.untitled);
}

/** Whether nobody looks at the page. */
function isAway(): boolean {
  return document.visibilityState === 'hidden' || !document.hasFocus();
}

export const attention = new Attention();
