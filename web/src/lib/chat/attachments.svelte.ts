// The files of a message being written. Each is uploaded at once, so that sending waits for
// nothing.
import { files as api } from '$lib/api/files';
import type { AttachedFile } from '$lib/api/types';
import { formatBytes } from '$lib/format/bytes';
import { errorText } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';
import { scaleImage } from './imageScale';

export interface Attachment {
  key: string;
  name: string;
  mediaType: string;
  size: number;
  /** As the server has it; absent until it is uploaded. */
  file?: AttachedFile;
  /** How much of it is uploaded, from 0 to 1. */
  progress: number;
  /** Why it cannot be sent. */
  problem?: string;
  /** What the browser shows of a picture before the server has it. */
  preview?: string;
}

/** As the server limits them, unless it says otherwise. */
export const fileLimits = { maxBytes: 20 * 1024 * 1024, maxCount: 10 };

let count = 0;

export class AttachmentList {
  items = $state.raw<readonly Attachment[]>([]);
  uploading = $derived(this.items.some(({ file, problem }) => !file && !problem));
  failed = $derived(this.items.some(({ problem }) => problem !== undefined));
  /** Those that the server has. */
  files = $derived(this.items.flatMap(({ file }) => file ?? []));
  /** Files were left out because a message takes no more. */
  overflowed = $state(false);

  #changed: () => void;
  /** Files of a message that was sent: taken out here, they stay there. */
  #sent: ReadonlySet<string>;
  #uploads = new Map<string, AbortController>();

  constructor(files: readonly AttachedFile[] = [], changed = () => {}) {
    this.items = files.map(attached);
    this.#sent = new Set();
    this.#changed = changed;
  }

  /** The files of a message that was sent, to be sent with another one. */
  static ofSent(files: readonly AttachedFile[]): AttachmentList {
    const list = new AttachmentList(files);
    list.#sent = new Set(files.map(({ id }) => id));
    return list;
  }

  add(files: readonly File[]): void {
    const room = Math.max(0, fileLimits.maxCount - this.items.length);
    this.overflowed = files.length > room;
    const added = files.slice(0, room).map((file) => ({ file, item: waiting(file) }));
    if (added.length === 0) return;
    this.items = [...this.items, ...added.map(({ item }) => item)];
    this.#changed();
    for (const { file, item } of added) if (!item.problem) void this.#upload(item.key, file);
  }

  remove(key: string): void {
    const item = this.items.find((item) => item.key === key);
    if (!item) return;
    this.#uploads.get(key)?.abort();
    this.#release(item);
    this.items = this.items.filter((other) => other !== item);
    this.overflowed = false;
    this.#changed();
    // The server forgets it by itself, later, where this does not reach it.
    if (item.file && !this.#sent.has(item.file.id)) void api.remove(item.file.id).catch(() => {});
  }

  /** Takes all out of the list. They are on their way, and are not deleted. */
  take(): readonly AttachedFile[] {
    const { files } = this;
    this.items.forEach((item) => this.#release(item));
    this.items = [];
    this.overflowed = false;
    return files;
  }

  /** Before those that were added since. */
  putBack(files: readonly AttachedFile[]): void {
    this.items = [...files.map(attached), ...this.items];
  }

  async #upload(key: string, content: File): Promise<void> {
    const stop = new AbortController();
    this.#uploads.set(key, stop);
    try {
      const scaled = await scaleImage(content);
      stop.signal.throwIfAborted();
      const file = await api.upload(scaled, scaled.name, {
        signal: stop.signal,
        onprogress: (progress) => this.#set(key, { progress }),
      });
      // Taken out while its response was on its way.
      if (!this.#set(key, { file, name: file.name, progress: 1 }))
        return void api.remove(file.id).catch(() => {});
      this.#changed();
    } catch (error) {
      this.#set(key, { problem: errorText(error) });
    } finally {
      this.#uploads.delete(key);
    }
  }

  #set(key: string, change: Partial<Attachment>): boolean {
    if (!this.items.some((item) => item.key === key)) return false;
    this.items = this.items.map((item) => (item.key === key ? { ...item, ...change } : item));
    return true;
  }

  #release({ preview }: Attachment): void {
    if (preview) URL.revokeObjectURL(preview);
  }
}

/** A file that the server has. */
export function attached(file: AttachedFile): Attachment {
  const { name, mediaType, size } = file;
  return { key: file.id, name, mediaType, size, file, progress: 1 };
}

function waiting(file: File): Attachment {
  const { name, type: mediaType, size } = file;
  const { fileTooLarge, fileEmpty } = language.messages;
  const problem =
    size > fileLimits.maxBytes
      ? fileTooLarge(formatBytes(fileLimits.maxBytes))
      : size === 0
        ? fileEmpty
        : undefined;
  const preview =
    !problem && mediaType.startsWith('image/') ? URL.createObjectURL(file) : undefined;
  return { key: `new-${++count}`, name, mediaType, size, progress: 0, problem, preview };
}
