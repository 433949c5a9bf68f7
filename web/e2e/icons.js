// Draws the icons of the installed page from favicon.svg: node e2e/icons.js. The results are
// committed.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser } from './browser.js';

const folder = fileURLToPath(new URL('../public/', import.meta.url));
const svg = await readFile(`${folder}favicon.svg`, 'utf8');
const paths = svg.match(/<path d=[^>]*>/g).join('');

/** `share` of the square is taken by the sign; a mask may cut off what is outside of four
    fifths. */
const icons = [
  { name: 'icon-192.png', size: 192, share: 0.84, sign: '#0d6f73' },
  { name: 'icon-512.png', size: 512, share: 0.84, sign: '#0d6f73' },
  { name: 'icon-maskable-512.png', size: 512, share: 0.52, sign: '#ffffff', ground: '#0d6f73' },
];

const browser = await openBrowser();
for (const { name, size, share, sign, ground } of icons) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const inner = size * share;
  await page.setContent(
    `<body style="margin:0;display:grid;place-items:center;height:100vh;background:${ground ?? 'transparent'}">
     <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="${inner}" fill="${sign}">${paths}</svg>`,
  );
  await writeFile(`${folder}${name}`, await page.screenshot({ omitBackground: !ground }));
  await page.close();
}
await browser.close();
