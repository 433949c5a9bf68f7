// The rules of ARCHITECTURE.md that the compiler does not hold: which crate may depend on which,
// one home for each type name, and no circle between sibling modules, at any level.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const problems = [];

/** What each crate may depend on, itself or through others. */
const mayUse = {
  text: [],
  schema: [],
  sandbox: [],
  documents: [],
  bus: [],
  domain: ['text'],
  net: ['text'],
  mcp: ['net'],
  openapi: ['net', 'schema'],
  skills: ['openapi'],
  tools: ['domain', 'schema'],
  store: ['domain'],
  llm: ['domain', 'net', 'schema'],
  assistant: ['llm'],
  sources: ['tools', 'mcp', 'openapi', 'skills', 'sandbox', 'bus'],
  agent: ['tools', 'llm', 'store', 'bus'],
  app: ['sources', 'agent', 'assistant', 'documents', 'sandbox'],
  server: ['app', 'mcp'],
  cli: ['server', 'sandbox', 'documents'],
};

/** Names that a framework or a convention asks for in more than one place. */
const sharedNames = new Set([
  ...['Error', 'Result'], // one for each crate
  ...['Entity', 'Model', 'Relation', 'Column', 'ActiveModel'], // of a table
  'Migration',
  'Input', // of a built-in tool
  ...['Inner', 'State'], // private halves of a handle
]);

/** Circles between files that are one noun, as the folder with a reason. */
const oneNoun = new Map([['cli/doctor', 'the simulated browser and the log of its requests']]);

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
    if (isOurs && !allowed(crate).has(below))
      problems.push(`${name} must not use ${dependency.name}`);
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
    // Indented and public: declared within a macro, as coded errors are.
    const types = /^(?:(?: {4})?pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) (\w+)/gm;
    for (const [, type] of code(text).matchAll(types)) {
      homes.set(type, [...(homes.get(type) ?? []), `${crate}/src/${path}`]);
    }
  }
  for (const circle of circles(uses(files))) {
    const folder = [crate, ...circle[0].split('/').slice(0, -1)].join('/');
    if (!oneNoun.has(folder))
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

/** Which siblings name which, at every level of a crate: `a/b` → `a/c` where a file below a/b uses one below a/c. */
function uses(files) {
  const modules = new Map(files.filter(({ path }) => !isTest(path)).map(readModule));
  const graph = new Map([...modules.keys()].map((module) => [module, new Set()]));
  for (const [from, { paths }] of modules) {
    for (const path of paths) {
      const to = resolve(modules, from, path);
      if (to === undefined) continue;
      const [ours, theirs] = [namesOf(from), namesOf(to)];
      const at = ours.findIndex((name, index) => name !== theirs[index]);
      if (at < 0 || at >= theirs.length) continue; // a module and its own parent or child
      const [sibling, other] = [ours, theirs].map((names) => names.slice(0, at + 1).join('/'));
      graph.get(sibling)?.add(other);
    }
  }
  return graph;
}

function namesOf(module) {
  return module.split('/').filter((name) => name !== '');
}

/** A file as a module: every path it names, and what the names that it imports stand for. */
function readModule({ path, text }) {
  const module = path.replace(/(^|\/)(lib|main)\.rs$/, '').replace(/\.rs$/, '');
  const source = code(text);
  const imports = new Map();
  for (const [, tree] of source.matchAll(/\buse ([^;]+);/g)) {
    for (const leaf of leaves(tree.replace(/\s+/g, ' '))) {
      const [whole, alias] = leaf.split(' as ');
      const names = whole.split('::').filter((name) => name !== '');
      if (names.at(-1) === 'self') names.pop();
      imports.set(alias ?? names.at(-1), names);
    }
  }
  const inline = source.match(/\b(?:crate|super|self)(?:::\w+)+/g) ?? [];
  const paths = [...imports.values(), ...inline.map((path) => path.split('::'))];
  return [module, { imports, paths }];
}

/** `a::{b, c::{d, e}}` → `a::b`, `a::c::d`, `a::c::e`. */
function leaves(tree) {
  const open = tree.indexOf('{');
  if (open < 0) return [tree.trim()];
  const [prefix, inside] = [
    tree.slice(0, open).trim(),
    tree.slice(open + 1, tree.lastIndexOf('}')),
  ];
  const branches = [''];
  let depth = 0;
  for (const char of inside) {
    if (char === '{') depth += 1;
    if (char === '}') depth -= 1;
    if (char === ',' && depth === 0) branches.push('');
    else branches[branches.length - 1] += char;
  }
  return branches
    .filter((branch) => branch.trim() !== '')
    .flatMap(leaves)
    .map((leaf) => prefix + leaf);
}

/** The module in which a path ends, through re-exports. Undefined: in none of this crate. */
function resolve(modules, from, path, depth = 0) {
  let at = namesOf(from);
  let rest = path;
  if (rest[0] === 'crate') [at, rest] = [[], rest.slice(1)];
  else if (rest[0] === 'self') rest = rest.slice(1);
  else if (rest[0] !== 'super' && !modules.has([...at, rest[0]].join('/'))) return undefined;
  for (; rest[0] === 'super'; rest = rest.slice(1)) at = at.slice(0, -1);
  for (; rest.length > 0 && modules.has([...at, rest[0]].join('/')); rest = rest.slice(1))
    at = [...at, rest[0]];
  const reached = at.join('/');
  const reexported = modules.get(reached)?.imports.get(rest[0]);
  const further =
    reexported &&
    depth < 8 &&
    resolve(modules, reached, [...reexported, ...rest.slice(1)], depth + 1);
  return further || reached;
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
