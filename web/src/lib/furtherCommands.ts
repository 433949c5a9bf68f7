// What the palette offers besides chats and the most common commands: pages of the settings, tools,
// experts, prompts, and what can be done with the open chat. Loaded when the palette is opened.
import Download from '@lucide/svelte/icons/download';
import Ghost from '@lucide/svelte/icons/ghost';
import Keyboard from '@lucide/svelte/icons/keyboard';
import Copy from '@lucide/svelte/icons/copy';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import Share from '@lucide/svelte/icons/share-2';
import Slash from '@lucide/svelte/icons/square-slash';
import Sparkles from '@lucide/svelte/icons/sparkles';
import TextSize from '@lucide/svelte/icons/a-large-small';
import Wrench from '@lucide/svelte/icons/wrench';
import { sectionsOf } from './account/sections';
import type { ExpertView, PromptView, ToolId, ToolView } from './api/types';
import { expertDescription, expertTitle } from './experts/expert';
import { GENERAL_ID } from './experts/experts.svelte';
import { preferencesMessages } from './i18n/preferences/messages';
import { settingsPagesMessages } from './i18n/settingsPages/messages';
import { shortcutsMessages } from './i18n/shortcuts/messages';
import { router } from './router.svelte';
import { keysOf, onMac, type ShortcutName } from './shortcuts/shortcuts';
import { textSize, textSizes } from './textSize.svelte';
import type { ChatActions } from './ui/chatmenu';
import type { Command } from './ui/palette';
import { sectionIcons } from './ui/settings/sectionIcons';

interface CommandSources {
  standing: { hasAccount: boolean; isAdmin: boolean };
  tools: readonly ToolView[];
  experts: readonly ExpertView[];
  prompts: readonly PromptView[];
  /** What the menu of the open chat does; absent where none is open. */
  chat: ChatActions | undefined;
  /** A chat that is in no list and soon gone. */
  beginTemporary(): void;
  openTool(toolId: ToolId): void;
  usePrompt(prompt: PromptView): void;
  /** Does what the shortcut of this name does. */
  perform(name: ShortcutName): void;
}

export function furtherCommands(around: CommandSources): Command[] {
  return [
    ...actions(around),
    ...settingsPages(around),
    ...experts(around),
    ...prompts(around),
    ...tools(around),
  ];
}

function actions({ chat, perform, beginTemporary }: CommandSources): Command[] {
  const w = shortcutsMessages();
  const { textSizes: sizes } = preferencesMessages();
  const byKey = (name: ShortcutName, icon: Command['icon']): Command => ({
    id: `do-${name}`,
    icon,
    label: w.names[name],
    note: keysOf(name, onMac()).join(onMac() ? '' : '+'),
    run: () => perform(name),
  });
  return [
    { id: 'temporary', icon: Ghost, label: w.temporary, run: beginTemporary },
    byKey('tools', Wrench),
    byKey('copyAnswer', Copy),
    byKey('sidebar', PanelLeft),
    { ...byKey('help', Keyboard), label: w.title },
    ...(chat
      ? [
          { id: 'share', icon: Share, label: w.shareThis, run: () => chat.share() },
          { id: 'export', icon: Download, label: w.exportThis, run: () => chat.export() },
        ]
      : []),
    ...textSizes.map((name) => ({
      id: `text-${name}`,
      icon: TextSize,
      label: w.textSize(sizes[name]),
      current: name === textSize.name,
      run: () => textSize.use(name),
    })),
  ];
}

function settingsPages({ standing }: CommandSources): Command[] {
  const w = shortcutsMessages();
  const { titles, keywords } = settingsPagesMessages();
  return sectionsOf(standing).map((section) => ({
    id: `settings-${section}`,
    icon: sectionIcons[section],
    label: w.settingsPage(titles[section]),
    keywords: keywords[section],
    run: () => router.go({ name: 'settings', section }),
  }));
}

function experts({ experts }: CommandSources): Command[] {
  const w = shortcutsMessages();
  return experts
    .filter(({ id }) => id !== GENERAL_ID)
    .map((expert) => ({
      id: `expert-${expert.id}`,
      icon: Sparkles,
      label: w.startWith(expertTitle(expert)),
      keywords: expertDescription(expert),
      run: () => router.go({ name: 'new', expertId: expert.id }),
    }));
}

function prompts({ prompts, usePrompt }: CommandSources): Command[] {
  const w = shortcutsMessages();
  return prompts.map((prompt) => ({
    id: `prompt-${prompt.id}`,
    icon: Slash,
    label: w.usePrompt(prompt.command),
    keywords: prompt.title,
    rare: true,
    run: () => usePrompt(prompt),
  }));
}

function tools({ tools, openTool }: CommandSources): Command[] {
  const w = shortcutsMessages();
  return tools.map(({ toolId, displayName, description, keywords = '' }) => ({
    id: `tool-${toolId}`,
    icon: Wrench,
    label: displayName,
    note: w.tool,
    keywords: `${toolId} ${description} ${keywords}`,
    rare: true,
    run: () => openTool(toolId),
  }));
}
