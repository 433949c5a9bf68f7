/** In the format of the browser's region, if that has the language of the page. */
export function localeFor(code: string, tags: readonly string[] = navigator.languages): string {
  const wanted = new Intl.Locale(code).maximize();
  const fits = (tag: string) => {
    const { language, script } = new Intl.Locale(tag).maximize();
    return language === wanted.language && script === wanted.script;
  };
  return tags.find(fits) ?? code;
}

/** "15 Nov 2026, 09:12" */
export function formatTime(at: number, code: string): string {
  return new Intl.DateTimeFormat(localeFor(code), {
    dateStyle: 'medium',
    timeStyle: 'short',
  }).format(at);
}

/** "15 Nov 2026, 09:12:03" */
export function formatMoment(at: number, code: string): string {
  return new Intl.DateTimeFormat(localeFor(code), {
    dateStyle: 'medium',
    timeStyle: 'medium',
  }).format(at);
}
