// Shows the OpenAPI document that the page names. Used wherever Tenon serves one.
const { document: url } = document.currentScript.dataset;

// Swagger UI has its dark theme under this class. The theme chosen in Tenon counts, or else the
// system's.
const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => {
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches;
  root.classList.toggle('dark-mode', isDark);
};
setTheme();
dark.addEventListener('change', setTheme);

SwaggerUIBundle({
  url,
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: false,
  // Neither a validator elsewhere nor a settings file from the address: nothing leaves this server.
  validatorUrl: null,
  queryConfigEnabled: false,
});
