// What is built in was looked at: it comes from the registries, is pinned by its checksum, runs
// nothing when it is installed, and has a licence that lets people use it. Needs no network;
// known weaknesses are looked up by `make audit`, which does.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const problems = [];

// The same list as `cargo deny` reads.
const allowed = new Set(
  /^allow = \[([^\]]*)\]/m
    .exec(readFileSync(`${root}deny.toml`, 'utf8'))[1]
    .match(/"[^"]+"/g)
    .map((name) => name.slice(1, -1)),
);

/** Whether an SPDX expression can be satisfied with what is allowed. */
function isAllowed(licence) {
  const one = (term) => {
    const [name] = term.split(/ WITH /);
    return allowed.has(term) || allowed.has(name);
  };
  const words = licence.replaceAll('/', ' OR ').replace(/[()]/g, (it) => ` ${it} `);
  const tokens = words.match(/[()]|\bAND\b|\bOR\b|[^\s()]+(?: WITH [^\s()]+)?/g) ?? [];
  const any = () => {
    let fits = all();
    while (tokens[0] === 'OR') {
      tokens.shift();
      fits = all() || fits;
    }
    return fits;
  };
  const all = () => {
    let fits = term();
    while (tokens[0] === 'AND') {
      tokens.shift();
      fits = term() && fits;
    }
    return fits;
  };
  const term = () => {
    const token = tokens.shift();
    if (token !== '(') return token !== undefined && one(token);
    const fits = any();
    return tokens.shift() === ')' && fits;
  };
  return any() && tokens.length === 0;
}

const run = (program, ...options) =>
  execFileSync(program, options, { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 });
// What is built here: the rest was never downloaded.
const platform = /^host: (.+)$/m.exec(run('rustc', '-vV'))[1];
const metadata = JSON.parse(
  run(
    ...['cargo', 'metadata', '--format-version', '1', '--locked', '--offline'],
    ...['--filter-platform', platform],
  ),
);
const locked = readFileSync(`${root}Cargo.lock`, 'utf8').split('[[package]]');
for (const { name, version, source, license, license_file: file } of metadata.packages) {
  if (source === null) continue;
  const about = `${name} ${version}`;
  if (!source.startsWith('registry+')) problems.push(`${about} comes from ${source}`);
  const entry = locked.find(
    (it) => it.includes(`\nname = "${name}"\n`) && it.includes(`\nversion = "${version}"\n`),
  );
  if (!entry?.includes('\nchecksum = ')) problems.push(`${about} has no checksum`);
  if (!license && !file) problems.push(`${about} has no licence`);
  if (license && !isAllowed(license))
    problems.push(`${about}: the licence ${license} is not known`);
}

const { packages } = JSON.parse(readFileSync(`${root}web/package-lock.json`, 'utf8'));
for (const [place, it] of Object.entries(packages)) {
  if (place === '') continue;
  const about = `${place} ${it.version}`;
  // Of those for other systems only the names are known here.
  if (!it.integrity?.startsWith('sha512-') && !it.optional)
    problems.push(`${about} has no checksum`);
  if (it.link || it.resolved?.startsWith('git')) problems.push(`${about} is in no registry`);
  // What the page is made of; the tools that make it are nobody else's.
  if (!it.dev && it.hasInstallScript) problems.push(`${about} runs something when it is installed`);
  if (!it.dev && !isAllowed(it.license ?? '')) {
    problems.push(`${about}: the licence ${it.license} is not known`);
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${metadata.packages.length} crates and ${Object.keys(packages).length - 1} packages.`);
