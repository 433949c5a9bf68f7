// The languages that code can be coloured in: each is loaded when it is first met.
import type { LanguageFn } from 'highlight.js';

interface CodeLanguage {
  /** As its people write it. */
  label: string;
  load: () => Promise<{ default: LanguageFn }>;
}

const languages: Record<string, CodeLanguage> = {
  bash: { label: 'Bash', load: () => import('highlight.js/lib/languages/bash') },
  c: { label: 'C', load: () => import('highlight.js/lib/languages/c') },
  clojure: { label: 'Clojure', load: () => import('highlight.js/lib/languages/clojure') },
  cmake: { label: 'CMake', load: () => import('highlight.js/lib/languages/cmake') },
  cpp: { label: 'C++', load: () => import('highlight.js/lib/languages/cpp') },
  csharp: { label: 'C#', load: () => import('highlight.js/lib/languages/csharp') },
  css: { label: 'CSS', load: () => import('highlight.js/lib/languages/css') },
  dart: { label: 'Dart', load: () => import('highlight.js/lib/languages/dart') },
  diff: { label: 'Diff', load: () => import('highlight.js/lib/languages/diff') },
  dockerfile: { label: 'Dockerfile', load: () => import('highlight.js/lib/languages/dockerfile') },
  dos: { label: 'Batch', load: () => import('highlight.js/lib/languages/dos') },
  elixir: { label: 'Elixir', load: () => import('highlight.js/lib/languages/elixir') },
  erlang: { label: 'Erlang', load: () => import('highlight.js/lib/languages/erlang') },
  fortran: { label: 'Fortran', load: () => import('highlight.js/lib/languages/fortran') },
  fsharp: { label: 'F#', load: () => import('highlight.js/lib/languages/fsharp') },
  go: { label: 'Go', load: () => import('highlight.js/lib/languages/go') },
  gradle: { label: 'Gradle', load: () => import('highlight.js/lib/languages/gradle') },
  graphql: { label: 'GraphQL', load: () => import('highlight.js/lib/languages/graphql') },
  groovy: { label: 'Groovy', load: () => import('highlight.js/lib/languages/groovy') },
  haskell: { label: 'Haskell', load: () => import('highlight.js/lib/languages/haskell') },
  http: { label: 'HTTP', load: () => import('highlight.js/lib/languages/http') },
  ini: { label: 'INI', load: () => import('highlight.js/lib/languages/ini') },
  java: { label: 'Java', load: () => import('highlight.js/lib/languages/java') },
  javascript: { label: 'JavaScript', load: () => import('highlight.js/lib/languages/javascript') },
  json: { label: 'JSON', load: () => import('highlight.js/lib/languages/json') },
  julia: { label: 'Julia', load: () => import('highlight.js/lib/languages/julia') },
  kotlin: { label: 'Kotlin', load: () => import('highlight.js/lib/languages/kotlin') },
  latex: { label: 'LaTeX', load: () => import('highlight.js/lib/languages/latex') },
  less: { label: 'Less', load: () => import('highlight.js/lib/languages/less') },
  lisp: { label: 'Lisp', load: () => import('highlight.js/lib/languages/lisp') },
  lua: { label: 'Lua', load: () => import('highlight.js/lib/languages/lua') },
  makefile: { label: 'Makefile', load: () => import('highlight.js/lib/languages/makefile') },
  markdown: { label: 'Markdown', load: () => import('highlight.js/lib/languages/markdown') },
  matlab: { label: 'MATLAB', load: () => import('highlight.js/lib/languages/matlab') },
  nginx: { label: 'nginx', load: () => import('highlight.js/lib/languages/nginx') },
  nix: { label: 'Nix', load: () => import('highlight.js/lib/languages/nix') },
  objectivec: { label: 'Objective-C', load: () => import('highlight.js/lib/languages/objectivec') },
  ocaml: { label: 'OCaml', load: () => import('highlight.js/lib/languages/ocaml') },
  perl: { label: 'Perl', load: () => import('highlight.js/lib/languages/perl') },
  php: { label: 'PHP', load: () => import('highlight.js/lib/languages/php') },
  powershell: { label: 'PowerShell', load: () => import('highlight.js/lib/languages/powershell') },
  properties: { label: 'Properties', load: () => import('highlight.js/lib/languages/properties') },
  protobuf: {
    label: 'Protocol Buffers',
    load: () => import('highlight.js/lib/languages/protobuf'),
  },
  python: { label: 'Python', load: () => import('highlight.js/lib/languages/python') },
  r: { label: 'R', load: () => import('highlight.js/lib/languages/r') },
  ruby: { label: 'Ruby', load: () => import('highlight.js/lib/languages/ruby') },
  rust: { label: 'Rust', load: () => import('highlight.js/lib/languages/rust') },
  scala: { label: 'Scala', load: () => import('highlight.js/lib/languages/scala') },
  scss: { label: 'SCSS', load: () => import('highlight.js/lib/languages/scss') },
  shell: { label: 'Shell', load: () => import('highlight.js/lib/languages/shell') },
  sql: { label: 'SQL', load: () => import('highlight.js/lib/languages/sql') },
  swift: { label: 'Swift', load: () => import('highlight.js/lib/languages/swift') },
  typescript: { label: 'TypeScript', load: () => import('highlight.js/lib/languages/typescript') },
  vbnet: { label: 'Visual Basic', load: () => import('highlight.js/lib/languages/vbnet') },
  verilog: { label: 'Verilog', load: () => import('highlight.js/lib/languages/verilog') },
  vim: { label: 'Vim', load: () => import('highlight.js/lib/languages/vim') },
  xml: { label: 'XML', load: () => import('highlight.js/lib/languages/xml') },
  yaml: { label: 'YAML', load: () => import('highlight.js/lib/languages/yaml') },
};

/** What else people write after the fence. */
const aliases: Record<string, string> = {
  sh: 'bash',
  zsh: 'bash',
  h: 'c',
  clj: 'clojure',
  'c++': 'cpp',
  cc: 'cpp',
  hpp: 'cpp',
  cxx: 'cpp',
  cs: 'csharp',
  'c#': 'csharp',
  patch: 'diff',
  docker: 'dockerfile',
  bat: 'dos',
  cmd: 'dos',
  ex: 'elixir',
  exs: 'elixir',
  erl: 'erlang',
  f90: 'fortran',
  fs: 'fsharp',
  golang: 'go',
  gql: 'graphql',
  hs: 'haskell',
  toml: 'ini',
  conf: 'ini',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  json5: 'json',
  jsonc: 'json',
  jsonl: 'json',
  jl: 'julia',
  kt: 'kotlin',
  kts: 'kotlin',
  tex: 'latex',
  el: 'lisp',
  scheme: 'lisp',
  make: 'makefile',
  mk: 'makefile',
  md: 'markdown',
  objc: 'objectivec',
  ml: 'ocaml',
  pl: 'perl',
  ps1: 'powershell',
  pwsh: 'powershell',
  env: 'properties',
  proto: 'protobuf',
  py: 'python',
  python3: 'python',
  rb: 'ruby',
  rs: 'rust',
  sass: 'scss',
  console: 'shell',
  shellsession: 'shell',
  terminal: 'shell',
  sqlite: 'sql',
  mysql: 'sql',
  postgres: 'sql',
  postgresql: 'sql',
  plsql: 'sql',
  ts: 'typescript',
  tsx: 'typescript',
  mts: 'typescript',
  vb: 'vbnet',
  viml: 'vim',
  html: 'xml',
  xhtml: 'xml',
  svg: 'xml',
  vue: 'xml',
  svelte: 'xml',
  yml: 'yaml',
};

const labels: Record<string, string> = {
  toml: 'TOML',
  html: 'HTML',
  svg: 'SVG',
  vue: 'Vue',
  svelte: 'Svelte',
  jsx: 'JSX',
  tsx: 'TSX',
  mermaid: 'Mermaid',
  csv: 'CSV',
};

/** Whose code is coloured by others inside it. */
const parts: Record<string, string[]> = { xml: ['css', 'javascript'], markdown: ['xml'] };

/** The name it is registered by; nothing where it is not known. */
export function languageName(written: string): string | undefined {
  const name = written.toLowerCase();
  const known = Object.hasOwn(aliases, name) ? aliases[name] : name;
  return known !== undefined && Object.hasOwn(languages, known) ? known : undefined;
}

/** What stands above the code. */
export function languageLabel(written: string): string {
  const name = written.toLowerCase();
  if (Object.hasOwn(labels, name)) return labels[name] ?? written;
  const known = languageName(written);
  return (known && languages[known]?.label) ?? written;
}

/** It and what it contains, as `[name, definition]`. */
export function loadLanguage(name: string): Promise<[string, LanguageFn][]> {
  const names = [...(parts[name] ?? []), name];
  return Promise.all(
    names.map(async (one) => {
      const language = languages[one];
      if (!language) throw new Error(`no language ${one}`);
      return [one, (await language.load()).default] satisfies [string, LanguageFn];
    }),
  );
}
