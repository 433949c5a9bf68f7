// Writes sw.js into the build: the service worker with the files of this build in it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const SOURCE = new URL('./serviceWorker.js', import.meta.url);

/** Beside the page and what it names. Icons are what an installed page is shown with. */
const FURTHER = ['/manifest.webmanifest', '/icon-192.png'];

export function serviceWorker(): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      // A page of the tests is none that is installed.
      if (page?.type !== 'asset') return;
      const html = String(page.source);
      const named = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1] ?? '');
      const shell = ['/', ...new Set([...named, ...FURTHER])];
      const source = readFileSync(SOURCE, 'utf8');
      // Another build has other names in its page; another worker is another build as well.
      const build = createHash('sha256').update(html).update(source).digest('hex').slice(0, 12);
      const code = source
        .replace(/^\/\* global .*\n/m, '')
        .replace('__BUILD__', build)
        .replace('__SHELL__', JSON.stringify(shell));
      this.emitFile({ type: 'asset', fileName: 'sw.js', source: code });
    },
  };
}
