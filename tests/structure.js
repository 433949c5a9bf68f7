// The rules of ARCHITECTURE.md that the compiler does not hold: which crate may depend on which,
// one home for each type name, and no circle between the modules of a crate.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const problems = [];

/** What each crate may depend on, itself or through others. */
const mayUse = {
  text: [],
  schema: [],
  domain: ['text'],
  net: ['text'],
  mcp: ['net'],
  openapi: ['net', 'schema'],
  tools: ['domain', 'schema'],
  store: ['domain'],
  llm: ['domain', 'net', 'schema'],
  assistant: ['llm'],
  sources: ['tools', 'mcp', 'openapi'],
  agent: ['tools', 'llm', 'store'],
  app: ['sources', 'agent', 'assistant'],
  server: ['app', 'mcp'],
  cli: ['server'],
};

/** Names that a framework or a convention asks for in more than one place. */
const sharedNames = new Set([
  ...['Error', 'Result'], // one for each crate
  ...['Entity', 'Model', 'Relation', 'Column', 'ActiveModel'], // of a table
  'Migration',
  'Input', // of a built-in tool
  ...['Inner', 'State'], // private halves of a handle
]);

function allowed(crate, seen = new Set()) {
  for (const below of mayUse[crate] ?? []) {
    seen.add(below);
    allowed(below, seen);
  }
  return seen;
}

const metadata = JSON.parse(
  execFileSync(
    'cargo',
    ['metadata', '--format-version', '1', '--locked', '--offline', '--no-deps'],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  ),
);
for (const { name, dependencies } of metadata.packages) {
  const crate = name.replace('tenon-', '');
  if (!(crate in mayUse)) problems.push(`${name} is in no list of what it may depend on`);
  for (const dependency of dependencies) {
    const below = dependency.name.replace('tenon-', '');
    const isOurs = dependency.name.startsWith('tenon-') && dependency.kind !== 'dev';
    if (isOurs && !allowed(crate).has(below)) problems.push(`${name} must not use ${dependency.name}`);
  }
}

const isTest = (path) => /(^|\/)tests(\.rs|\/)/.test(path);

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.rs'))
    .map((path) => ({ path, text: readFileSync(`${folder}/${path}`, 'utf8') }));
}

const homes = new Map();
for (const crate of Object.keys(mayUse)) {
  const files = filesUnder(`${root}crates/${crate}/src`);
  for (const { path, text } of files) {
    if (isTest(path)) continue;
    const types = /^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) (\w+)/gm;
    for (const [, type] of code(text).matchAll(types)) {
      homes.set(type, [...(homes.get(type) ?? []), `${crate}/src/${path}`]);
    }
  }
  for (const circle of circles(uses(files))) {
    problems.push(`crates/${crate}: a circle of modules: ${circle.join(' → ')}`);
  }
}
for (const [type, files] of homes) {
  if (files.length > 1 && !sharedNames.has(type)) {
    problems.push(`the type ${type} has ${files.length} homes: ${files.join(', ')}`);
  }
}

/** Code without its comments and tests: tests may look down from above. */
function code(text) {
  return text.split('\n#[cfg(test)]\nmod tests')[0].replace(/^\s*\/\/.*$/gm, '');
}

/** Which top-level modules of a crate name which. */
function uses(files) {
  const modules = new Map();
  for (const { path, text } of files) {
    const from = path.split('/')[0].replace('.rs', '');
    if (from === 'lib' || from === 'main' || isTest(path)) continue;
    const source = code(text);
    const named = modules.get(from) ?? new Set();
    modules.set(from, named);
    for (const [, to] of source.matchAll(/\bcrate::(\w+)/g)) named.add(to);
    for (const [, group] of source.matchAll(/\bcrate::\{([^;]*)\};/g)) {
      for (const [to] of group.replace(/\w+::\{[^}]*\}/g, (it) => it.split('::')[0]).matchAll(/\b[a-z]\w*/g)) {
        named.add(to);
      }
    }
  }
  for (const [from, named] of modules) {
    modules.set(from, [...named].filter((to) => to !== from && modules.has(to)));
  }
  return modules;
}

/** The circles that a walk in depth meets, each once. */
function circles(graph) {
  const found = [];
  const done = new Set();
  const visit = (at, path) => {
    if (path.includes(at)) return void found.push([...path.slice(path.indexOf(at)), at]);
    if (done.has(at)) return;
    for (const to of graph.get(at)) visit(to, [...path, at]);
    done.add(at);
  };
  for (const at of graph.keys()) visit(at, []);
  return found;
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${homes.size} type names in ${metadata.packages.length} crates, each in its place.`);
