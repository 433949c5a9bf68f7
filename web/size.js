// What the first visit downloads, gzipped, against the budget.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const budget = 120 * 1024;
const dist = new URL('./dist/', import.meta.url);
const page = readFileSync(new URL('index.html', dist), 'utf8');

// Everything the page itself names; a chunk loaded later is not part of the first visit.
const named = [...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1]);
const files = ['index.html', ...new Set(named)];

let total = 0;
for (const file of files) {
  const bytes = gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;
  total += bytes;
  console.log(`${kib(bytes)}  ${file}`);
}
console.log(`${kib(total)}  in all, of ${kib(budget).trim()} KiB`);
if (total > budget) {
  console.error('The first visit is over its budget.');
  process.exit(1);
}

function kib(bytes) {
  return (bytes / 1024).toFixed(1).padStart(7);
}
