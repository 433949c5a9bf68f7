// Reads the arguments as JSON from standard input and writes the result to standard output.
// What is written to standard error is shown as progress while the tool runs.
import { readFileSync } from 'node:fs';

const { text } = JSON.parse(readFileSync(0, 'utf8'));
const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
console.log(JSON.stringify({ slug: words.join('-') }));
