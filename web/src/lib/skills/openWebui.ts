// Tools as Open WebUI exports them: a JSON file with an array of `{id, name, content, meta}`.

export interface ExportedTool {
  id: string;
  name: string;
  description: string;
  /** Python. */
  content: string;
}

/** Absent where the text is no such file. */
export function parseExport(text: string): ExportedTool[] | undefined {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  // One tool alone is exported without the array.
  const entries = Array.isArray(data) ? data : [data];
  const tools = entries.flatMap((entry, index) => toolIn(entry, index));
  return tools.length > 0 ? tools : undefined;
}

function toolIn(entry: unknown, index: number): ExportedTool[] {
  if (!isObject(entry) || typeof entry.content !== 'string') return [];
  const meta = isObject(entry.meta) ? entry.meta : {};
  const manifest = isObject(meta.manifest) ? meta.manifest : {};
  const id = textIn(entry.id) || `tool-${index + 1}`;
  return [
    {
      id,
      name: textIn(entry.name) || textIn(manifest.title) || id,
      description: textIn(meta.description) || textIn(manifest.description),
      content: entry.content,
    },
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
