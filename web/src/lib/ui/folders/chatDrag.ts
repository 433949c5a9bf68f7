// A chat that is dragged from one place of the side bar to another.
import type { ChatId } from '$lib/api/types';

const TYPE = 'application/x-tenon-chat';

export function startChatDrag(event: DragEvent, id: ChatId): void {
  event.dataTransfer?.setData(TYPE, id);
}

/** Whether a chat is dragged here. Which one is known when it is dropped. */
export function isChatDrag({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes(TYPE) ?? false;
}

export function draggedChat({ dataTransfer }: DragEvent): ChatId | undefined {
  return dataTransfer?.getData(TYPE) || undefined;
}
