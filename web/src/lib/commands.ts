// What the palette offers, in the language of the page.
import Archive from '@lucide/svelte/icons/archive';
import Box from '@lucide/svelte/icons/box';
import FileUp from '@lucide/svelte/icons/file-up';
import Languages from '@lucide/svelte/icons/languages';
import MessageSquare from '@lucide/svelte/icons/message-square';
import MessageSquareText from '@lucide/svelte/icons/message-square-text';
import Plug from '@lucide/svelte/icons/plug';
import Plus from '@lucide/svelte/icons/plus';
import Settings from '@lucide/svelte/icons/settings';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import Wrench from '@lucide/svelte/icons/wrench';
import type { ChatSummary, SearchHit } from './api/types';
import { formatDay } from './format/day';
import { language, languages } from './i18n/language.svelte';
import { router } from './router.svelte';
import { theme, themes } from './theme.svelte';
import type { Command } from './ui/palette';

/** What only the page can do: these open something over it. */
export interface Openers {
  chooseModel(): void;
  /** Absent where models are not this person's to change. */
  connectModel?(): void;
  manageModels?(): void;
  showArchive(): void;
  importChat(): void;
  openSettings(): void;
}

export function commands(chats: readonly ChatSummary[], openers: Openers): Command[] {
  const t = language.messages;
  return [
    { id: 'new', icon: Plus, label: t.newChat, run: () => router.go({ name: 'new' }) },
    { id: 'choose-model', icon: Box, label: t.chooseModel, run: openers.chooseModel },
    ...optional('connect-model', Plug, t.connectModelHere, openers.connectModel),
    ...optional('manage-models', SlidersHorizontal, t.manageModels, openers.manageModels),
    { id: 'archive', icon: Archive, label: t.archivedChats, run: openers.showArchive },
    { id: 'import', icon: FileUp, label: t.importChat, run: openers.importChat },
    { id: 'settings', icon: Settings, label: t.settings, run: openers.openSettings },
    ...chats.map((chat) => ({
      id: `chat-${chat.id}`,
      icon: MessageSquare,
      label: chat.title || t.untitled,
      current: chat.id === router.chatId,
      run: () => router.go({ name: 'chat', chatId: chat.id }),
    })),
    ...themes.map((name) => ({
      id: `theme-${name}`,
      icon: SunMoon,
      label: t.useTheme(t[name]),
      current: name === theme.name,
      run: () => theme.use(name),
    })),
    ...languages.map(({ code, name }) => ({
      id: `language-${code}`,
      icon: Languages,
      label: t.useLanguage(name),
      current: code === language.code,
      run: () => language.use(code),
    })),
  ];
}

/** What a search found, as places to go to. */
export function hitCommands(hits: readonly SearchHit[]): Command[] {
  const t = language.messages;
  return hits.map(({ chatId, turnId, kind, title, snippet, at }) => ({
    id: kind === 'title' ? `chat-${chatId}` : `hit-${kind}-${chatId}-${turnId}`,
    icon: kind === 'call' ? Wrench : MessageSquareText,
    label: title || t.untitled,
    snippet: kind === 'title' ? undefined : snippet,
    note: `${t.hitKinds[kind]}${t.separator}${formatDay(at, new Date(), language.code)}`,
    run: () => router.go({ name: 'chat', chatId, turnId }),
  }));
}

function optional(id: string, icon: Command['icon'], label: string, run?: () => void): Command[] {
  return run ? [{ id, icon, label, run }] : [];
}
