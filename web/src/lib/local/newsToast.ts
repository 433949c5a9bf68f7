// Says on the page that tool servers of this computer came or went.
import { toolPanelMessages } from '$lib/i18n/toolpanel/messages';
import { toasts } from '$lib/ui/toasts.svelte';
import { truncateTitle } from '$lib/format/truncate';
import type { ServerChanges } from './serverNews';

/** More are counted, not named. */
const MAX_NAMES = 3;

export function showServerNews({ come, gone }: ServerChanges): void {
  const w = toolPanelMessages();
  if (gone.length > 0) toasts.show(w.gone(named(gone), gone.length));
  if (come.length > 0) toasts.show(w.come(named(come), come.length));
}

export function showComputerQuestion(): void {
  toasts.show(toolPanelMessages().computerUnknown);
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map(truncateTitle);
  return [...shown, ...(names.length > MAX_NAMES ? ['…'] : [])].join(
    toolPanelMessages().listSeparator,
  );
}
