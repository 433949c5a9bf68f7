// A Markdown table of CSV or records: the arguments are JSON on standard input, the result is text.
import { readFileSync } from 'node:fs';

/** The rows of a CSV text (RFC 4180), with quoted fields. */
function parseCsv(text) {
  const rows = [['']];
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    const row = rows.at(-1);
    if (char === '"' && isQuoted && text[at + 1] === '"') row[row.length - 1] += text[(at += 1)];
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === ',' && !isQuoted) row.push('');
    else if (char === '\n' && !isQuoted) rows.push(['']);
    else if (char !== '\r' || isQuoted) row[row.length - 1] += char;
  }
  return rows.filter((row) => row.length > 1 || row[0] !== '');
}

/** How wide a terminal shows it: Chinese characters take two columns. */
function width(text) {
  return [...text].reduce((sum, char) => sum + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(char) ? 2 : 1), 0);
}

function isNumber(text) {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

const input = JSON.parse(readFileSync(0, 'utf8'));
let header, rows;
if (input.records) {
  header = [...new Set(input.records.flatMap(Object.keys))];
  rows = input.records.map((record) => header.map((key) => String(record[key] ?? '')));
} else if (input.csv) {
  [header, ...rows] = parseCsv(input.csv);
  rows = rows.map((row) => header.map((_, column) => row[column] ?? ''));
} else {
  console.error('Give `csv` or `records`.');
  process.exit(1);
}

if (input.sortBy !== undefined) {
  const column = header.indexOf(input.sortBy);
  if (column < 0) {
    console.error(`There is no column "${input.sortBy}": the columns are ${header.join(', ')}.`);
    process.exit(1);
  }
  const compare = (a, b) => (isNumber(a) && isNumber(b) ? Number(a) - Number(b) : a.localeCompare(b));
  rows.sort((a, b) => compare(a[column], b[column]) * (input.descending ? -1 : 1));
}

const escape = (text) => text.replaceAll('|', '\\|').replaceAll('\n', '<br>');
const cells = [header, ...rows].map((row) => row.map(escape));
const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => width(row[column]))));
const isRight = header.map((_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column])));
const pad = (text, column) => {
  const spaces = ' '.repeat(widths[column] - width(text));
  return isRight[column] ? spaces + text : text + spaces;
};
const line = (row) => `| ${row.join(' | ')} |`;
const rule = widths.map((size, column) => '-'.repeat(size - 1) + (isRight[column] ? ':' : '-'));
const [first, ...others] = cells.map((row) => line(row.map(pad)));
console.log([first, line(rule), ...others].join('\n'));
