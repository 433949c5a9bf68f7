// A form out of the JSON Schema of a tool's arguments or of settings. What a form of a tool can
// ask is asked in the same way; the rest is written as JSON, or one value per line.
import {
  elicitationContent,
  elicitationFields,
  elicitationProblem,
  type ElicitationField,
  type ElicitationProblem,
  type ElicitationValue,
  type ElicitationValues,
} from '$lib/chat/elicitation';
import { isSchema, type JsonSchema } from './module';

export interface SchemaField {
  /** `lines` are texts, one per line; `secret` is hidden while it is typed. */
  input: 'plain' | 'secret' | 'lines' | 'json';
  /** A text where the input is not plain. */
  field: ElicitationField;
}

export type EntryProblem = ElicitationProblem | { kind: 'notJson' };

export function schemaFields(schema: unknown): SchemaField[] {
  if (!isSchema(schema) || !isSchema(schema.properties)) return [];
  const plain = Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [
      name,
      plainSchema(property, schema),
    ]),
  );
  const inputs = new Map(
    Object.entries(plain).map(([name, property]) => [name, inputOf(property)] as const),
  );
  const asked = Object.entries(plain).map(([name, property]) => {
    const { title, description } = property;
    return [name, inputs.get(name) === 'plain' ? property : { type: 'string', title, description }];
  });
  return elicitationFields({ ...schema, properties: Object.fromEntries(asked) }).map((field) => {
    const input = inputs.get(field.name) ?? 'plain';
    if (input === 'plain' || field.kind !== 'text') return { input, field };
    const initial = textOf(input, plain[field.name]?.default);
    return { input, field: { ...field, initial } };
  });
}

/** What was saved, or else what the schema begins with. */
export function entriesOf(
  fields: readonly SchemaField[],
  values: Readonly<Record<string, unknown>> = {},
): ElicitationValues {
  return new Map(
    fields.map(({ field, input }) => {
      const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
      return [field.name, value === undefined ? field.initial : entryOf(field, input, value)];
    }),
  );
}

export function entryProblem(
  { field, input }: SchemaField,
  entry: ElicitationValue | undefined,
): EntryProblem | undefined {
  const problem = elicitationProblem(field, entry);
  if (problem || input !== 'json' || !String(entry ?? '').trim()) return problem;
  return parseJson(String(entry)) === undefined ? { kind: 'notJson' } : undefined;
}

/** What is sent. What was left empty is left out. */
export function valuesOf(
  fields: readonly SchemaField[],
  entries: ElicitationValues,
): Record<string, unknown> {
  const content = elicitationContent(
    fields.map(({ field }) => field),
    entries,
  );
  const written = fields.flatMap(({ field: { name }, input }) => {
    const text = content[name];
    if (typeof text !== 'string') return [];
    if (input === 'json') return [[name, parseJson(text)]];
    return input === 'lines' ? [[name, linesIn(text)]] : [];
  });
  return { ...content, ...Object.fromEntries(written) };
}

/** Without what Python and TypeScript write for "or nothing", and with what it refers to. */
function plainSchema(property: unknown, root: JsonSchema, depth = 0): JsonSchema {
  if (!isSchema(property) || depth > 4) return {};
  const referred = typeof property.$ref === 'string' ? definition(property.$ref, root) : undefined;
  if (referred) return plainSchema({ ...referred, ...without(property, '$ref') }, root, depth + 1);
  for (const key of ['anyOf', 'oneOf', 'allOf'] as const) {
    const { [key]: several, ...rest } = property;
    if (!Array.isArray(several)) continue;
    const others = several.filter((one) => !isSchema(one) || one.type !== 'null');
    // What several titled constants are is a choice, and stays one.
    if (others.length === 1) {
      return plainSchema({ ...(others[0] as JsonSchema), ...rest }, root, depth + 1);
    }
  }
  if (Array.isArray(property.type)) {
    const types = property.type.filter((type) => type !== 'null');
    return types.length === 1 ? { ...property, type: types[0] } : without(property, 'type');
  }
  return property;
}

function inputOf(schema: JsonSchema): SchemaField['input'] {
  const { type } = schema;
  if (type === 'boolean' || type === 'number' || type === 'integer') return 'plain';
  const isChoice = hasTexts(schema.enum) || [schema.oneOf, schema.anyOf].some(hasConstants);
  if (type === 'string' || (type === undefined && isChoice)) {
    return isSecret(schema) ? 'secret' : 'plain';
  }
  if (type !== 'array' || !isSchema(schema.items)) return 'json';
  const { items } = schema;
  if (hasTexts(items.enum) || hasConstants(items.anyOf)) return 'plain';
  return items.type === 'string' ? 'lines' : 'json';
}

/** As JSON Schema says it, and as Open WebUI does. */
function isSecret({ format, writeOnly, input }: JsonSchema): boolean {
  return (
    format === 'password' || writeOnly === true || (isSchema(input) && input.type === 'password')
  );
}

function entryOf(
  { kind }: ElicitationField,
  input: SchemaField['input'],
  value: unknown,
): ElicitationValue {
  if (input !== 'plain') return textOf(input, value);
  if (kind === 'yes') return value === true;
  if (kind === 'some') return Array.isArray(value) ? value.map(String) : [];
  return value === null ? '' : String(value);
}

function textOf(input: SchemaField['input'], value: unknown): string {
  if (value === undefined || value === null) return '';
  if (input === 'json') return JSON.stringify(value, null, 2);
  return input === 'lines' && Array.isArray(value) ? value.map(String).join('\n') : String(value);
}

function definition(reference: string, root: JsonSchema): JsonSchema | undefined {
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/(.+)$/.exec(reference) ?? [];
  const all = root[place];
  const found = isSchema(all) && Object.hasOwn(all, name) ? all[name] : undefined;
  return isSchema(found) ? found : undefined;
}

function linesIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasTexts(values: unknown): boolean {
  return Array.isArray(values) && values.some((value) => typeof value === 'string');
}

function hasConstants(values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.length > 0 &&
    values.every((value) => isSchema(value) && typeof value.const === 'string')
  );
}

function without(schema: JsonSchema, key: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}
