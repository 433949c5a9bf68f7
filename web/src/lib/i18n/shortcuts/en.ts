// What the cheat sheet of shortcuts and the palette say. Loaded on demand.
import type { ShortcutName } from '$lib/shortcuts/shortcuts';

export const shortcutsEn = {
  title: 'Keyboard shortcuts',
  everywhere: 'Everywhere',
  whileWriting: 'While writing a message',
  names: {
    palette: 'Search and commands',
    newChat: 'New chat',
    composer: 'Write a message',
    previousChat: 'Previous chat',
    nextChat: 'Next chat',
    sidebar: 'Show or hide the chat list',
    tools: 'Tools',
    copyAnswer: 'Copy the last answer',
    stop: 'Stop the answer, or close what is open',
    settings: 'Settings',
    help: 'This list',
  } as Record<ShortcutName, string>,
  writing: {
    send: 'Send',
    line: 'New line',
    editLast: 'Edit the last message, if the field is empty',
    prompts: 'Prompts and skills',
    mentions: 'One tool, or an expert',
  },
  notTyping: 'when not in a text field',
  nothingToCopy: 'There is no answer to copy.',
  answerCopied: 'The last answer is copied.',
  notCopied: 'The browser did not let Tenon copy it.',
  exportThis: 'Export this chat…',
  temporary: 'Start a temporary chat',
  shareThis: 'Share this chat…',
  startWith: (expert: string) => `Start a chat with ${expert}`,
  usePrompt: (command: string) => `Use the prompt /${command}`,
  settingsPage: (page: string) => `Settings: ${page}`,
  tool: 'Tool',
  textSize: (size: string) => `Text size: ${size}`,
};

export type ShortcutsMessages = typeof shortcutsEn;
