import { localizedName, localizedSourceTitle } from './builtins/builtinTexts';
import { language } from './language.svelte';

/** What a tool is called in the language of the page: its own words, unless it is built in. */
export function toolName(displayName: string, toolId = guessedId(displayName)): string {
  return localizedName(toolId, displayName, language.builtins);
}

/** What a source is called, likewise. */
export function sourceName(title: string, sourceId = ''): string {
  return localizedSourceTitle(sourceId, title, language.builtins);
}

/** While a call is being written only the name is known. */
function guessedId(displayName: string): string {
  const [, title = ''] = displayName.split('/');
  return `builtin_${title.toLowerCase().replaceAll(' ', '_')}`;
}
