// The examples of a document, as they stand in it.
//
// The word after the language of a fenced block says what it is: `run` is a command that starts a
// server, `install` one that installs something, anything else the name of a file.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Its fenced blocks in order, each with the heading it stands under. */
export async function blocksOf(name) {
  const path = fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
  const lines = (await readFile(path, 'utf8')).split('\n');
  const blocks = [];
  let heading = '';
  let open;
  for (const line of lines) {
    const fence = /^```(\S*) ?(.*)$/.exec(line);
    if (open && line === '```') {
      blocks.push({ ...open, text: open.lines.map((line) => `${line}\n`).join('') });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence) open = { heading, language: fence[1], name: fence[2], lines: [] };
    else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
  }
  return blocks.map(({ heading, language, name, text }) => ({ heading, language, name, text }));
}
