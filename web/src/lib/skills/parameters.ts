// The parameters of a tool, as lines that people read.
import { isSchema } from './module';

export interface ParameterLine {
  name: string;
  /** "integer", "string[]", "a | b". */
  type: string;
  isRequired: boolean;
  description: string;
}

/** More choices are not read in a line. */
const MAX_CHOICES = 6;

export function parameterLines(schema: unknown): ParameterLine[] {
  if (!isSchema(schema)) return [];
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: typeName(property),
    isRequired: required.has(name),
    description:
      isSchema(property) && typeof property.description === 'string' ? property.description : '',
  }));
}

export function typeName(schema: unknown): string {
  if (!isSchema(schema)) return 'any';
  const { type, enum: choices, items } = schema;
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MAX_CHOICES).map((choice) => String(choice));
    return [...shown, ...(choices.length > MAX_CHOICES ? ['…'] : [])].join(' | ');
  }
  const several = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (several) return [...new Set(several.map(typeName))].join(' | ');
  if (Array.isArray(type)) return type.join(' | ');
  if (type === 'array') return items === undefined ? 'array' : `${typeName(items)}[]`;
  return typeof type === 'string' ? type : 'any';
}
