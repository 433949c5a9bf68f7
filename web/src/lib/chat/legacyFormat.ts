// Documents of office programs that the server takes no text from, and what they can be saved as so
// that it does.
import type { AttachedFile } from '$lib/api/types';

const READ_FORMATS = {
  docx: ['doc', 'dot', 'rtf', 'wps', 'pages'],
  xlsx: ['xls', 'xlt', 'xlsb', 'et', 'numbers'],
  pptx: ['ppt', 'pps', 'pot', 'dps', 'key'],
};

/** What a model could read it as. Undefined: it is no such document, or is read. */
export function formatToSaveAs({
  name,
  kind,
}: Pick<AttachedFile, 'name' | 'kind'>): string | undefined {
  if (kind !== 'other') return undefined;
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.entries(READ_FORMATS).find(([, legacy]) => legacy.includes(extension))?.[0];
}
