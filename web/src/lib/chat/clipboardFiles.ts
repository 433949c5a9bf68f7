// What is pasted or dropped: files, or text that browsers hand over as if it were a file.

/** Longer text is offered as a file: in the field it would bury what is written around it. */
export const LONG_PASTE_CHARS = 4_000;

/** The files that were pasted. Office programs add a picture of the text that they copy; it is the
    text that is meant then. */
export function pastedFiles(data: DataTransfer): File[] {
  const has = (type: string) => data.types.includes(type);
  const isOfficeText = has('text/plain') && (has('text/html') || has('text/rtf'));
  return isOfficeText ? [] : [...data.files];
}

/** Text that was pasted and is long enough to be a file, as a text field takes it. */
export function longPaste(data: DataTransfer): string | undefined {
  const text = data.getData('text/plain').replace(/\r\n?/g, '\n');
  return text.length > LONG_PASTE_CHARS ? text : undefined;
}

export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes('Files') ?? false;
}
