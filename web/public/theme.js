// The chosen theme, applied before anything is drawn. Everything else about
// themes is in src/lib/theme.svelte.ts; the key must be the same there.
try {
  const theme = localStorage.getItem('tenon.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is closed to us: the system's theme it is.
}
