// All chats of a person at once: as one file, out of one, and gone.
import { api, ApiError, type ExportOptions } from '$lib/api/client';
import type { ChatId, ChatSummary, ExportedChat } from '$lib/api/types';

/** The server lists no more at once. */
const PAGE_SIZE = 500;

/** How far it has come. */
export interface BulkStep {
  done: number;
  count: number;
}

type ReportStep = (step: BulkStep) => void;

/** Those in use and those in the archive. */
export async function allChats(): Promise<ChatSummary[]> {
  const found = new Map<ChatId, ChatSummary>();
  for (const archived of [undefined, true]) {
    let before: string | undefined;
    for (;;) {
      const page = await api.chats({ limit: PAGE_SIZE, before, archived });
      for (const chat of page) found.set(chat.id, chat);
      // The next page begins after the last that is not pinned: pinned ones come first, whatever
      // their age.
      const last = page.findLast(({ pinned }) => archived === true || !pinned);
      const next = last && `${last.updatedAt}.${last.id}`;
      if (page.length < PAGE_SIZE || !next || next === before) break;
      before = next;
    }
  }
  return [...found.values()];
}

export interface ChatsFile {
  file: Blob;
  /** The titles of chats that have more files than can be exported. */
  withoutFiles: string[];
}

/** One file with many chats. One with a single chat is what the menu of that chat exports. */
export async function exportChats(
  chats: readonly ChatSummary[],
  { withFiles }: Pick<ExportOptions, 'withFiles'>,
  report: ReportStep,
  signal: AbortSignal,
): Promise<ChatsFile> {
  // Chat by chat into pieces of a file: parsed once more they would take several times the memory.
  const pieces: BlobPart[] = ['{"format":"tenon.chats","version":1,"chats":['];
  const withoutFiles: string[] = [];
  for (const [index, { id, title }] of chats.entries()) {
    signal.throwIfAborted();
    if (index > 0) pieces.push(',');
    try {
      pieces.push(await api.exportChat(id, { format: 'json', withFiles }));
    } catch (error) {
      if (!withFiles || !hasTooLargeFiles(error)) throw error;
      pieces.push(await api.exportChat(id, { format: 'json', withFiles: false }));
      withoutFiles.push(title);
    }
    report({ done: index + 1, count: chats.length });
  }
  const file = new Blob([...pieces, ']}'], { type: 'application/json' });
  return { file, withoutFiles };
}

function hasTooLargeFiles(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'files_too_large_to_export';
}

/** The chats in a file; absent where it is none that Tenon exported. The server judges the rest. */
export function chatsIn(text: string): ExportedChat[] | undefined {
  try {
    const value = JSON.parse(text) as { format?: string; chats?: ExportedChat[] };
    const { format, chats } = value;
    if (format === 'tenon.chat') return [value as unknown as ExportedChat];
    if (format !== 'tenon.chats' || !Array.isArray(chats)) return undefined;
    return chats.every((chat) => chat?.format === 'tenon.chat') ? chats : undefined;
  } catch {
    return undefined;
  }
}

/** One that is refused does not keep out the others: those are told, with why. */
export async function importChats(
  chats: readonly ExportedChat[],
  report: ReportStep,
  signal: AbortSignal,
): Promise<{ made: ChatSummary[]; refused: { title: string; error: unknown }[] }> {
  const made: ChatSummary[] = [];
  const refused: { title: string; error: unknown }[] = [];
  for (const [index, chat] of chats.entries()) {
    if (signal.aborted) break;
    try {
      made.push(await api.importChat(chat));
    } catch (error) {
      refused.push({ title: chat.title, error });
    }
    report({ done: index + 1, count: chats.length });
  }
  return { made, refused };
}

export async function deleteChats(
  chats: readonly ChatSummary[],
  remove: (id: ChatId) => Promise<void>,
  report: ReportStep,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, { id }] of chats.entries()) {
    signal.throwIfAborted();
    await remove(id);
    report({ done: index + 1, count: chats.length });
  }
}
