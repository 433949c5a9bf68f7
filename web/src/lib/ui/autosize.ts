// What fields for longer texts have in common.
import type { Attachment } from 'svelte/attachments';

/** As high as its text, within the limit the style sets. */
export function autosize(text: string): Attachment<HTMLTextAreaElement> {
  void text;
  return (field) => {
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  };
}
