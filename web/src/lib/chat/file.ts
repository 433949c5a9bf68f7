// Chats as files: their names, how they are saved and how they are read back.
import type { ExportFormat } from '$lib/api/client';
import type { ExportedChat } from '$lib/api/types';

const EXTENSIONS = { json: 'json', markdown: 'md' };

/** A name that every file system takes, cut by characters. */
export function fileName(title: string, format: ExportFormat): string {
  const name = title
    // What some file system or other gives a meaning to, and what cannot be seen.
    .replace(/[\\/:*?"<>|\p{Cc}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '');
  return `${[...name].slice(0, 80).join('').trim() || 'chat'}.${EXTENSIONS[format]}`;
}

export function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken hold of it by the next turn of its loop.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}

/** Absent where the file is no chat that Tenon exported. The server judges the rest. */
export async function readExport(file: File): Promise<ExportedChat | undefined> {
  try {
    const value = JSON.parse(await file.text()) as Partial<ExportedChat> | null;
    return value?.format === 'tenon.chat' ? (value as ExportedChat) : undefined;
  } catch {
    return undefined;
  }
}
