// The words of the parameters of built-in tools. Loaded with the details of a tool.
import { isObject } from '$lib/json/json';
import type { LanguageCode } from '../language.svelte';
import { parametersZhHans } from './parametersZhHans';
import { parametersZhHant } from './parametersZhHant';

/** By the id of the tool and the name of the parameter. */
export type ParameterTexts = Partial<Record<string, Partial<Record<string, string>>>>;

const texts: Partial<Record<LanguageCode, ParameterTexts>> = {
  'zh-Hans': parametersZhHans,
  'zh-Hant': parametersZhHant,
};

/** A schema as people read it. Models get it as the server has it. */
export function localizedSchema(toolId: string, schema: unknown, code: LanguageCode): unknown {
  const own = texts[code]?.[toolId];
  if (!own || !isObject(schema) || !isObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const description = own[name];
    return [name, description && isObject(property) ? { ...property, description } : property];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
