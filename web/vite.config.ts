import { svelte } from '@sveltejs/vite-plugin-svelte';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { serviceWorker } from './src/buildServiceWorker';

/** Where `tenon serve` listens unless told otherwise. */
const server = 'http://127.0.0.1:8366';

/** Tests that replace modules, or watch one being loaded. */
const isolated = [
  'src/lib/account/setupCode.test.ts',
  'src/lib/local/discover.test.ts',
  'src/lib/local/endpoints.test.ts',
  'src/lib/local/local.test.ts',
];

/** Swagger UI as its makers build it, for the pages that show an OpenAPI document. No page of ours
    loads it. */
function swaggerFiles(): Plugin {
  const files = ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE'];
  const require = createRequire(import.meta.url);
  return {
    name: 'swagger-files',
    apply: 'build',
    generateBundle() {
      for (const file of files) {
        const source = readFileSync(require.resolve(`swagger-ui-dist/${file}`));
        this.emitFile({ type: 'asset', fileName: `swagger/${file}`, source });
      }
    },
  };
}

/** Every browser the page runs in reads woff2; the other two formats would be dead weight in the
    binary. */
function woff2Only(): Plugin {
  return {
    name: 'woff2-only',
    enforce: 'pre',
    transform(code, id) {
      if (!/katex[^/]*\.css/.test(id)) return undefined;
      const other = /,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[^"]*"\)/g;
      return { code: code.replace(other, ''), map: null };
    },
  };
}

/** The icons of Lucide are drawn by a component of ours. */
function lightIcons(): Plugin {
  const ours = fileURLToPath(new URL('./src/lib/ui/LucideIcon.svelte', import.meta.url));
  return {
    name: 'light-icons',
    enforce: 'pre',
    resolveId: (source, importer) =>
      source === '../Icon.svelte' && importer?.includes('@lucide/svelte') ? ours : undefined,
  };
}

export default defineConfig({
  plugins: [lightIcons(), svelte(), swaggerFiles(), woff2Only(), serviceWorker()],
  resolve: {
    alias: { $lib: fileURLToPath(new URL('./src/lib', import.meta.url)) },
    // Components are tested as the browser runs them, not as a server would render them.
    conditions: process.env.VITEST ? ['browser'] : undefined,
  },
  server: {
    proxy: { '/api': { target: server, ws: true } },
  },
  build: {
    // `light-dark()` holds both themes in one line per token; older targets would have it
    // rewritten.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The policy of the server forbids inline scripts, and this polyfill is one more file for no
    // one.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // What every visit loads is one file. By itself, each icon and each helper that a later part shares
    // would be a file of its own: twice as many requests, and no byte less.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'initial', tags: ['$initial'] }] } },
    },
  },
  test: {
    // Not happy-dom: DOMPurify drops the outermost element there.
    environment: 'jsdom',
    pool: 'threads',
    setupFiles: ['src/testSetup.ts'],
    // Most files share one jsdom: loading it for each took ten times as long as the tests.
    projects: [
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: ['src/**/*.test.ts'], exclude: isolated },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
});
