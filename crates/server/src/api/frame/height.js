addEventListener('load', () => {
  const { scrollHeight } = document.documentElement;
  const body = document.body;
  if (!body) return;
  const content = document.createRange();
  content.selectNodeContents(body);
  const below = parseFloat(getComputedStyle(body).marginBottom) || 0;
  // A page that fits its frame is as high as what is on it; one that does not says so itself.
  const fits = scrollHeight <= innerHeight;
  const height = fits ? content.getBoundingClientRect().bottom + below : scrollHeight;
  parent.postMessage({ type: 'iframe:height', height: Math.ceil(height) }, '*');
});
