// The chosen theme and text size, applied before anything is drawn. Everything else about them is
// in src/lib/theme.svelte.ts and src/lib/textSize.svelte.ts; the keys must be the same there.
try {
  const { dataset } = document.documentElement;
  const theme = localStorage.getItem('tenon.theme');
  if (theme === 'light' || theme === 'dark') {
    dataset.theme = theme;
    // The frame of an installed page has the colour of the page.
    for (const meta of document.querySelectorAll('meta[name=theme-color]')) {
      meta.media = meta.dataset.of === theme ? 'all' : 'not all';
    }
  }
  const text = localStorage.getItem('tenon.text');
  if (text === 'small' || text === 'large') dataset.text = text;
} catch {
  // Storage is closed to us: the system's theme it is.
}
