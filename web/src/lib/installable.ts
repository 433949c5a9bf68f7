// Registers the service worker, which keeps the page for when the server is away, and takes what it
// tells.
import { router } from './router.svelte';

/** Only for who is in: a stranger's browser keeps nothing. Never fails: the page works without
    it. */
export function registerWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const told = data as { type?: unknown; chatId?: unknown } | null;
    if (told?.type === 'open' && typeof told.chatId === 'string') {
      router.go({ name: 'chat', chatId: told.chatId });
    }
  });
  navigator.serviceWorker.register('/sw.js', { updateViaCache: 'none' }).catch(() => {
    // In a private window, or over plain HTTP, there is none.
  });
}
