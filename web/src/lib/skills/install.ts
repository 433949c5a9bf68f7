// What is chosen of a preview, and files on their way to the server.
import type { SkillInput, SkillPreviewItem } from '$lib/api/types';

/** How a skill of a preview stands to what is installed. */
export type PreviewState = 'new' | 'update' | 'same';

/** What a dropped or chosen file is. */
export type FileKind = 'skill' | 'export' | 'module';

export function previewState({ installed, diff }: SkillPreviewItem): PreviewState {
  if (installed === undefined) return 'new';
  return diff.oldHash === diff.newHash ? 'same' : 'update';
}

/** Programs of others run on the server only where an admin said so. */
export function isRefusedTo(item: SkillPreviewItem, isAdmin: boolean): boolean {
  return item.needsAdmin && !isAdmin;
}

/** What can be installed, less what was passed over. */
export function chosenItems(
  items: readonly SkillPreviewItem[],
  passed: ReadonlySet<string>,
  isAdmin: boolean,
): SkillPreviewItem[] {
  return items.filter(
    (item) =>
      !passed.has(item.hash) && !isRefusedTo(item, isAdmin) && previewState(item) !== 'same',
  );
}

export function fileKind(fileName: string): FileKind {
  if (/\.json$/i.test(fileName)) return 'export';
  return /\.(?:py|js|mjs)$/i.test(fileName) ? 'module' : 'skill';
}

/** Fails where it cannot be read, as a folder cannot. */
export async function uploadOf(file: File): Promise<SkillInput> {
  return { fileName: file.name, content: await base64Of(file) };
}

function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('not readable'));
    reader.readAsDataURL(file);
  });
}
