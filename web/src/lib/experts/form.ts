// What stands in the form of an expert, and what of it is sent.
import type { ExpertChange, ExpertView, ToolView, Visibility } from '$lib/api/types';

export const icons = [
  'bot',
  'book-open',
  'briefcase',
  'calculator',
  'chart-line',
  'code',
  'file-text',
  'flask-conical',
  'globe',
  'languages',
  'pen-line',
  'scale',
] as const;

export interface ExpertForm {
  name: string;
  title: string;
  description: string;
  icon: string;
  /** Empty: the default one. */
  model: string;
  systemPrompt: string;
  toolChoice: 'all' | 'only';
  /** Ids of tools that exist. */
  tools: ReadonlySet<string>;
  /** Everything else, one per line. */
  patterns: string;
  /** Ids of skills, also of those that are gone. */
  skills: ReadonlySet<string>;
  starters: string;
  temperature: string;
  topP: string;
  maxTokens: string;
  visibility: Visibility;
}

/** As it is, or empty for a new one. */
export function formOf(expert: ExpertView | undefined, tools: readonly ToolView[]): ExpertForm {
  const known = new Set(tools.map(({ toolId }) => toolId));
  const patterns = expert?.tools ?? [];
  const { temperature, topP, maxTokens } = expert?.parameters ?? {};
  const number = (value: number | undefined) => (value === undefined ? '' : String(value));
  return {
    name: expert?.name ?? '',
    title: expert?.title ?? '',
    description: expert?.description ?? '',
    icon: expert?.icon ?? 'bot',
    model: expert?.model ?? '',
    systemPrompt: expert?.systemPrompt ?? '',
    toolChoice: expert?.tools ? 'only' : 'all',
    tools: new Set(patterns.filter((pattern) => known.has(pattern))),
    patterns: patterns.filter((pattern) => !known.has(pattern)).join('\n'),
    skills: new Set(expert?.skills),
    starters: (expert?.starters ?? []).map(oneLine).join('\n'),
    temperature: number(temperature),
    topP: number(topP),
    maxTokens: number(maxTokens),
    visibility: expert?.visibility ?? 'private',
  };
}

/** The fields with numbers that are none. */
export function wrongNumbers(form: ExpertForm): ('temperature' | 'topP' | 'maxTokens')[] {
  const fields = ['temperature', 'topP', 'maxTokens'] as const;
  return fields.filter((field) => Number.isNaN(Number(form[field].trim() || 0)));
}

export function changeOf(form: ExpertForm): ExpertChange {
  const number = (text: string) => (text.trim() ? Number(text) : undefined);
  const only = [...[...form.tools].sort(), ...lines(form.patterns)];
  return {
    ...(form.name.trim() && { name: form.name.trim() }),
    title: form.title.trim(),
    description: form.description.trim(),
    icon: form.icon,
    model: form.model || null,
    systemPrompt: form.systemPrompt,
    tools: form.toolChoice === 'all' ? null : only,
    skills: [...form.skills],
    starters: lines(form.starters),
    parameters: {
      temperature: number(form.temperature),
      topP: number(form.topP),
      maxTokens: number(form.maxTokens),
    },
    visibility: form.visibility,
  };
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/** A starter of several lines, written by a program, becomes one. */
function oneLine(text: string): string {
  return lines(text).join(' ');
}
