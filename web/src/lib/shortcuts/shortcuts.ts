// The keyboard shortcuts of the page. None is one of a browser: Alt+Shift with a letter is free in
// Chromium, Firefox and Safari, and by the place of the key it works in every layout.

export const shortcutNames = [
  'palette',
  'newChat',
  'composer',
  'previousChat',
  'nextChat',
  'sidebar',
  'tools',
  'copyAnswer',
  'stop',
  'settings',
  'help',
] as const;
export type ShortcutName = (typeof shortcutNames)[number];

/** What a keyboard event tells of a shortcut. */
type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'altKey' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'isComposing' | 'keyCode'
>;

/** With Alt and Shift, by the place of the key. Those without are below. */
const chords: Partial<Record<ShortcutName, string>> = {
  newChat: 'KeyN',
  previousChat: 'KeyK',
  nextChat: 'KeyJ',
  sidebar: 'KeyS',
  tools: 'KeyL',
  copyAnswer: 'KeyC',
  settings: 'Comma',
};

/** What a press means. `typing`: in a field, where plain characters are text. */
export function shortcutOf(press: KeyPress, typing: boolean): ShortcutName | undefined {
  // Chinese is being typed. Safari ends the composition before this event; 229 is how it still
  // tells.
  if (press.isComposing || press.keyCode === 229) return undefined;
  const { altKey, ctrlKey, metaKey, shiftKey, key } = press;
  const command = ctrlKey || metaKey;
  if (command && !altKey && !shiftKey && key.toLowerCase() === 'k') return 'palette';
  if (altKey && shiftKey && !command) {
    return shortcutNames.find((name) => chords[name] === press.code);
  }
  if (command || altKey) return undefined;
  if (key === 'Escape') return 'stop';
  if (typing) return undefined;
  if (key === '?') return 'help';
  if (key === '/') return 'composer';
  return undefined;
}

/** The keys of a shortcut, as they stand on the keyboard. */
export function keysOf(name: ShortcutName, mac: boolean): string[] {
  const chord = chords[name];
  if (chord) {
    const last = chord === 'Comma' ? ',' : chord.replace('Key', '');
    return mac ? ['⌥', '⇧', last] : ['Alt', 'Shift', last];
  }
  switch (name) {
    case 'palette':
      return mac ? ['⌘', 'K'] : ['Ctrl', 'K'];
    case 'stop':
      return ['Esc'];
    case 'composer':
      return ['/'];
    default:
      return ['?'];
  }
}

/** Whether characters typed there are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('[contenteditable]:not([contenteditable=false])'))
    return true;
  if (target instanceof HTMLInputElement) {
    return !['checkbox', 'radio', 'button', 'submit', 'file', 'range'].includes(target.type);
  }
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Whether the page is used on a Mac, where shortcuts are written otherwise. */
export function onMac(): boolean {
  return navigator.platform.startsWith('Mac');
}

/** The chat before or after the open one, in the order of the side bar. */
export function neighbour<Chat extends { id: string }>(
  chats: readonly Chat[],
  currentId: string | undefined,
  step: 1 | -1,
): Chat | undefined {
  const index = chats.findIndex(({ id }) => id === currentId);
  // Before the first chat there is the one that is about to begin.
  if (index < 0) return step === 1 ? chats[0] : chats.at(-1);
  return chats[index + step];
}
