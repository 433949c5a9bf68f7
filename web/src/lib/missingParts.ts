// Parts of the page that are loaded when they are needed and cannot be: the server is away, or it
// is a newer one whose files have other names.
import { language } from '$lib/i18n/language.svelte';
import { toasts } from '$lib/ui/toasts.svelte';

/** Says so where no component does. */
export function reportMissingParts(target: Window = window): void {
  const failures = new WeakSet<object>();
  target.addEventListener('vite:preloadError', ({ payload }) => failures.add(payload));
  target.addEventListener('unhandledrejection', (event) => {
    if (!(event.reason instanceof Object) || !failures.has(event.reason)) return;
    event.preventDefault();
    const { notLoaded, reload } = language.messages;
    toasts.show(notLoaded, { label: reload, run: () => target.location.reload() });
  });
}
