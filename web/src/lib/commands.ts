// What the palette offers, in the language of the page.
import Box from '@lucide/svelte/icons/box';
import Languages from '@lucide/svelte/icons/languages';
import MessageSquare from '@lucide/svelte/icons/message-square';
import Plug from '@lucide/svelte/icons/plug';
import Plus from '@lucide/svelte/icons/plus';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import type { ChatSummary } from './api/types';
import { language, languages } from './i18n/language.svelte';
import { router } from './router.svelte';
import { theme, themes } from './theme.svelte';
import type { Command } from './ui/palette';

/** What only the page can do: these open something over it. */
interface Openers {
  chooseModel(): void;
  connectModel(): void;
  manageModels(): void;
}

export function commands(chats: readonly ChatSummary[], openers: Openers): Command[] {
  const t = language.words;
  return [
    { id: 'new', icon: Plus, label: t.newChat, run: () => router.go({ name: 'new' }) },
    { id: 'choose-model', icon: Box, label: t.chooseModel, run: openers.chooseModel },
    { id: 'connect-model', icon: Plug, label: t.connectModelHere, run: openers.connectModel },
    {
      id: 'manage-models',
      icon: SlidersHorizontal,
      label: t.manageModels,
      run: openers.manageModels,
    },
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
