// Describes and runs a JavaScript module whose exported functions are tools.
//
//     node node_runner.mjs --describe tools.mjs    prints what the module has, as one line of JSON
//     node node_runner.mjs --serve tools.mjs       answers calls, one line of JSON each, until input ends
//
// The protocol is in the README beside this folder. Needs nothing but Node 18. The schema of a function
// comes from its JSDoc comment; a function is called with its parameters in their order, or with one
// object where it takes one, and with `context` where it names a parameter so.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const SIMPLE = {
  string: 'string',
  number: 'number',
  integer: 'integer',
  int: 'integer',
  float: 'number',
  boolean: 'boolean',
  bool: 'boolean',
  object: 'object',
  array: 'array',
};

// --- descriptions --------------------------------------------------------------------------

/** The comment at the top: `@title`, `@description` and so on, or `title: …` lines. */
function frontMatter(source) {
  const comment = source.replace(/^#!.*\n/, '').match(/^\s*\/\*\*?([\s\S]*?)\*\//);
  const fields = {};
  let key;
  for (const line of comment ? commentLines(comment[1]) : []) {
    const found = line.match(/^@?([A-Za-z_]+)(?::\s*|\s+)(.*)$/);
    const name = found?.[1].toLowerCase();
    if (found && (line.startsWith('@') || /^[A-Za-z_]+:/.test(line))) {
      key = name;
      fields[key] = found[2].trim();
    } else if (key && line.trim() !== '') {
      fields[key] = `${fields[key]} ${line.trim()}`.trim();
    } else {
      key = undefined;
    }
  }
  return fields;
}

function commentLines(text) {
  return text.split('\n').map((line) => line.replace(/^\s*\*\s?/, '').trimEnd());
}

/** The JSDoc comment before a function and the text of its parameters, by the name it is exported as. */
function documented(source) {
  const functions = new Map();
  const declaration =
    /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s*\*?\s*([\w$]+)\s*\(|(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function\s*[\w$]*\s*)?\()/g;
  for (const found of source.matchAll(declaration)) {
    const name = found[2] ?? found[3];
    const open = found.index + found[0].length;
    functions.set(name, { comment: found[1] ?? '', parameters: insideParentheses(source, open) });
  }
  return functions;
}

/** What stands between an opening parenthesis and its closing one. */
function insideParentheses(source, start) {
  let depth = 1;
  for (let at = start; at < source.length; at += 1) {
    const char = source[at];
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if (depth === 0) return source.slice(start, at);
    if ('"\'`'.includes(char)) {
      for (at += 1; at < source.length && source[at] !== char; at += 1) if (source[at] === '\\') at += 1;
    }
  }
  return '';
}

/** "a, { b, c = 1 } = {}, context" → each with its name, or as an object. */
function parameterNames(text) {
  return splitOutside(text.replace(/\/\*[\s\S]*?\*\//g, ''), ',', '([{', ')]}')
    .map((part) => ({
      name: part.startsWith('{') ? undefined : part.split('=')[0].trim(),
      isOptional: part.includes('='),
    }));
}

/** The text of a JSDoc comment and its `@param`s. */
function parseComment(comment) {
  const text = [];
  const parameters = [];
  let current;
  for (const line of commentLines(comment)) {
    const tag = line.match(/^\s*@(\w+)\s*(.*)$/);
    if (!tag) {
      if (current) current.description += ` ${line.trim()}`;
      else if (!parameters.isOver) text.push(line);
      continue;
    }
    current = undefined;
    parameters.isOver = true;
    if (!['param', 'arg', 'argument'].includes(tag[1])) continue;
    const { type, rest } = bracedType(tag[2]);
    const found = rest.match(/^(\[[^\]]*\]|\S+)\s*-?\s*(.*)$/);
    if (!found) continue;
    const inside = found[1].replace(/^\[|\]$/g, '');
    const [name, ...defaults] = inside.split('=');
    current = {
      name: name.trim(),
      type,
      isOptional: found[1].startsWith('['),
      default: defaults.length > 0 ? literal(defaults.join('=').trim()) : undefined,
      description: found[2],
    };
    parameters.push(current);
  }
  return { text: text.join('\n').trim(), parameters };
}

/** "{{a: string}} x" → the type, which can have braces itself, and the rest. */
function bracedType(text) {
  if (!text.startsWith('{')) return { type: '', rest: text };
  const type = insideParentheses(text, 1);
  return { type: type.trim(), rest: text.slice(type.length + 2).trim() };
}

function literal(text) {
  try {
    return JSON.parse(text.replace(/^'(.*)'$/, '"$1"'));
  } catch {
    return text;
  }
}

/** The JSON Schema of a JSDoc type; what says nothing allows everything. */
function schemaOf(type) {
  const bare = type.trim().replace(/^[?!]|=$/g, '');
  const parts = splitUnion(bare.replace(/^\((.*)\)$/, '$1')).filter((part) => !/^(null|undefined)$/.test(part));
  if (parts.length > 1) {
    const values = parts.map((part) => literal(part));
    const isLiteral = parts.every((part) => /^(['"].*['"]|-?\d+(\.\d+)?)$/.test(part));
    if (isLiteral) return { enum: values };
    return { anyOf: parts.map(schemaOf) };
  }
  const one = parts[0] ?? '';
  const list = one.match(/^(?:Array<(.*)>|(.*)\[\])$/);
  if (list) return { type: 'array', items: schemaOf(list[1] ?? list[2]) };
  if (/^['"].*['"]$/.test(one)) return { enum: [literal(one)] };
  if (/^(Record|Map|Object)</.test(one) || one.startsWith('{')) return { type: 'object' };
  const simple = SIMPLE[one.toLowerCase()];
  return simple === undefined ? {} : { type: simple };
}

function splitUnion(text) {
  return splitOutside(text, '|', '<({[', '>)}]');
}

/** The parts of a text between separators that stand in no brackets and no quotes. */
function splitOutside(text, separator, opening, closing) {
  const parts = [''];
  let depth = 0;
  let quote;
  for (const char of text) {
    if (quote !== undefined) quote = char === quote ? undefined : quote;
    else if ('"\'`'.includes(char)) quote = char;
    else if (opening.includes(char)) depth += 1;
    else if (closing.includes(char)) depth -= 1;
    if (char === separator && depth === 0 && quote === undefined) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function describeFunction(name, { comment, parameters: text }) {
  const signature = parameterNames(text).filter((one) => one.name !== 'context');
  const documentation = parseComment(comment);
  const takesObject = isObjectCall(signature, documentation.parameters);
  const [root] = documentation.parameters;
  const fields = takesObject
    ? documentation.parameters
        .filter((one) => one.name.includes('.'))
        .map((one) => ({ ...one, name: one.name.split('.').slice(1).join('.') }))
        .filter((one) => !one.name.includes('.'))
    : signature.map((one) => {
        const known = documentation.parameters.find((other) => other.name === one.name);
        return { type: '', description: '', ...known, name: one.name, isOptional: one.isOptional || Boolean(known?.isOptional) };
      });
  const properties = {};
  for (const field of fields) {
    const schema = schemaOf(field.type);
    if (field.description.trim() !== '') schema.description = field.description.trim();
    if (field.default !== undefined) schema.default = field.default;
    properties[field.name] = schema;
  }
  const required = fields.filter((field) => !field.isOptional).map((field) => field.name);
  const schema = { type: 'object', properties };
  if (required.length > 0) schema.required = required;
  const description = documentation.text || (takesObject && root?.description) || '';
  return { name, description, parameters: schema };
}

/** Whether the arguments come as one object: destructured, or documented as `input.text`. */
function isObjectCall(signature, parameters) {
  const isDestructured = signature.length === 1 && signature[0].name === undefined;
  return isDestructured || (signature.length === 1 && parameters.some((one) => one.name.includes('.')));
}

function toolsOf(module, source) {
  const documentation = documented(source);
  const exported = Object.entries(module).flatMap(([name, value]) =>
    name === 'default' && value !== null && typeof value === 'object' ? Object.entries(value) : [[name, value]],
  );
  const functions = exported.filter(
    ([name, value]) => typeof value === 'function' && !name.startsWith('_') && !/^class\b/.test(String(value)),
  );
  const tools = new Map();
  for (const [name, run] of functions) {
    const own = name === 'default' ? run.name || 'run' : name;
    const known = documentation.get(run.name) ?? documentation.get(own) ?? fromText(run);
    tools.set(own, { run, ...known });
  }
  // A module lists its exports by the alphabet; people mean something by the order they wrote.
  const order = [...documentation.keys()];
  return new Map([...tools].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other)));
}

/** A function that stands nowhere by its name: its parameters from its own text. */
function fromText(run) {
  const text = String(run);
  const open = text.indexOf('(');
  return { comment: '', parameters: open < 0 ? '' : insideParentheses(text, open + 1) };
}

async function describe(path) {
  const source = readFileSync(path, 'utf8');
  const fields = frontMatter(source);
  const description = {
    title: fields.title,
    description: fields.description,
    author: fields.author,
    version: fields.version,
    license: fields.license ?? fields.licence,
    requirements: (fields.requirements ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
    tools: [],
  };
  try {
    const module = await import(pathToFileURL(path));
    const tools = toolsOf(module, source);
    description.tools = [...tools].map(([name, tool]) => describeFunction(name, tool));
    description.settings = module.settings ?? null;
    description.userSettings = module.userSettings ?? null;
    if (tools.size === 0) {
      const message = 'it exports no function: write `export async function name(…) { … }`';
      description.error = { kind: 'no_tools', message };
    }
  } catch (error) {
    description.error = fault(error, path);
  }
  return description;
}

function fault(error, path) {
  const message = String(error?.message ?? error);
  const line = lineIn(error, path);
  if (error instanceof SyntaxError) return { kind: 'syntax', message, line: line ?? syntaxLine(path) };
  // The second is what `require` says.
  if (['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(error?.code)) {
    const missing = message.match(/Cannot find (?:package|module) '([^']+)'/)?.[1] ?? message;
    return { kind: 'missing_module', message, line, modules: [missing] };
  }
  return { kind: 'load', message, line };
}

/** The line of the module that an error names first. */
function lineIn(error, path) {
  const stack = String(error?.stack ?? '');
  const at = stack.indexOf(path);
  const line = at < 0 ? undefined : stack.slice(at + path.length).match(/^:(\d+)/);
  return line ? Number(line[1]) : null;
}

/** Errors of syntax do not say where they are, but Node tells whoever asks it to check a file. */
function syntaxLine(path) {
  const checked = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  return lineIn({ stack: checked.stderr }, path);
}

// --- serving -------------------------------------------------------------------------------

function send(message) {
  let bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

/** What the code prints goes to standard error: standard output is for the protocol alone. */
function protectOutput() {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for (const name of ['log', 'info', 'debug']) console[name] = console.error;
}

async function call(tools, request) {
  const tool = tools.get(request.tool);
  if (tool === undefined) throw new Error(`the module has no tool \`${request.tool}\``);
  const given = request.arguments ?? {};
  const context = {
    ...request.context,
    user: request.user ?? {},
    settings: request.settings ?? JSON.parse(process.env.TENON_SETTINGS || '{}'),
    emit: (event) => send({ id: request.id, event: typeof event === 'string' ? status(event) : event }),
  };
  const signature = parameterNames(tool.parameters);
  const others = signature.filter((one) => one.name !== 'context');
  const { parameters } = parseComment(tool.comment);
  if (isObjectCall(others, parameters)) return tool.run(given, context);
  return tool.run(...signature.map(({ name }) => (name === 'context' ? context : given[name])));
}

function status(description) {
  return { type: 'status', data: { description, done: false } };
}

async function serve(path) {
  const source = readFileSync(path, 'utf8');
  const tools = toolsOf(await import(pathToFileURL(path)), source);
  send({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    let id = null;
    try {
      const request = JSON.parse(line);
      id = request.id;
      send({ id, result: (await call(tools, request)) ?? null });
    } catch (error) {
      const message = String(error?.message ?? error);
      send({ id, error: { message, type: error?.name ?? 'Error', line: lineIn(error, path) } });
    }
  }
}

const [mode, file] = process.argv.slice(2);
if (file === undefined || !['--describe', '--serve'].includes(mode)) {
  console.error('usage: node node_runner.mjs --describe|--serve FILE');
  process.exit(2);
}
const path = resolve(file);
protectOutput();
if (mode === '--describe') {
  send(await describe(path));
  process.exit(0);
}
try {
  await serve(path);
  process.exit(0);
} catch (error) {
  send({ ready: false, error: fault(error, path) });
  process.exit(1);
}
