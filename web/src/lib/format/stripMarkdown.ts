/** Text without the marks of Markdown that mean nothing outside of it. Stars and lines that may
    be part of a word or a sum stay. */
export function stripMarkdown(text: string): string {
  return text.replace(/\*\*|~~|`+/g, '').replace(/^ {0,3}(#{1,6}|>) +/gm, '');
}
