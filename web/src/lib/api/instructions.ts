// What models are told beside the conversation.
import { request } from './client';
import type { ChatId, ChatSettings, UserInstructions } from './types';

const OWN_PATH = '/api/me/instructions';

export const instructions = {
  own: () => request<UserInstructions>('GET', OWN_PATH),
  setOwn: (own: UserInstructions) => request<void>('PUT', OWN_PATH, own),
  ofChat: (id: ChatId) => request<ChatSettings>('GET', settingsPath(id)),
  setOfChat: (id: ChatId, settings: ChatSettings) =>
    request<void>('PUT', settingsPath(id), settings),
};

function settingsPath(id: ChatId): string {
  return `/api/chats/${encodeURIComponent(id)}/settings`;
}
