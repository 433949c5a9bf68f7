// The browser's notifications. Where a page may not make one itself, as on Android, its service
// worker does.
import type { ChatId } from '$lib/api/types';
import { router } from '$lib/router.svelte';

/** `missing` where the browser has none, or has none for a page without HTTPS. */
export function permission(): NotificationPermission | 'missing' {
  return isSecureContext && 'Notification' in globalThis ? Notification.permission : 'missing';
}

/** Only after a click: browsers refuse it otherwise. */
export async function askPermission(): Promise<NotificationPermission | 'missing'> {
  const now = permission();
  return now === 'default' ? Notification.requestPermission() : now;
}

/** `chatId` is what a click on it opens. */
export function showNotification(body: string, chatId?: ChatId): void {
  const title = 'Tenon';
  // A later one about the same chat takes the place of the one before.
  const options = { body, tag: `tenon-${chatId ?? 'test'}`, icon: '/icon-192.png' };
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      window.focus();
      if (chatId) router.go({ name: 'chat', chatId });
      notification.close();
    };
  } catch {
    void navigator.serviceWorker?.ready.then((worker) =>
      worker.showNotification(title, { ...options, data: { chatId } }),
    );
  }
}
