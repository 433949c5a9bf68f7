// The form in which a model is connected or changed: text as it is typed, and
// what is sent to the server.
import type {
  ModelDiscoveryRequest,
  ModelDiscoveryResponse,
  ModelChange,
  ModelView,
  NewModel,
  OfferedModel,
  Prices,
  ToolMode,
  WireFormat,
} from '$lib/api/types';

export interface Preset {
  id: string;
  name: string;
  provider?: WireFormat;
  baseUrl: string;
  /** Runs on the person's own machines, and seldom wants a key. */
  local?: true;
}

export const presets: readonly Preset[] = [
  openai('openai', 'OpenAI', 'https://api.openai.com/v1'),
  {
    id: 'anthropic',
    name: 'Anthropic',
    provider: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
  },
  { ...openai('ollama', 'Ollama', 'http://localhost:11434/v1'), local: true },
  { ...openai('lmstudio', 'LM Studio', 'http://localhost:1234/v1'), local: true },
  { ...openai('llamacpp', 'llama.cpp', 'http://localhost:8080/v1'), local: true },
  { ...openai('vllm', 'vLLM', 'http://localhost:8000/v1'), local: true },
  openai('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1'),
  openai('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1'),
  openai('qwen', 'Qwen (DashScope)', 'https://dashscope.aliyuncs.com/compatible-mode/v1'),
  openai('moonshot', 'Moonshot', 'https://api.moonshot.cn/v1'),
  openai('zhipu', 'Zhipu', 'https://open.bigmodel.cn/api/paas/v4'),
];

/** Any address that is none of the presets. */
export const OTHER_PROVIDER = 'other';

export const toolModes: ToolMode[] = ['auto', 'native', 'constrained', 'text', 'none'];

/** Only the format of chat completions has JSON answers and calls as text. */
export function isToolModeOf(mode: ToolMode, format: WireFormat | undefined): boolean {
  return (mode !== 'constrained' && mode !== 'text') || format === 'openai';
}

export interface ModelForm {
  preset: string;
  baseUrl: string;
  /** Absent until it is set; the server can detect it. */
  provider?: WireFormat;
  key: string;
  /** The key that is stored is to go. */
  removeKey: boolean;
  model: string;
  name: string;
  parameters: string;
  toolMode: ToolMode;
  contextTokens: string;
  toolBudget: string;
  currency: string;
  input: string;
  output: string;
  cacheRead: string;
  cacheWrite: string;
  isDefault: boolean;
}

/** What Tenon puts into a request itself. */
const RESERVED = ['input', 'instructions', 'messages', 'model', 'stream', 'tools'];

/** A field, and what is wrong with it. */
export type ModelFormProblem =
  'missing' | 'keyAgain' | 'notJson' | 'reserved' | 'notCount' | 'notPrice';
export type ModelFormProblems = Partial<Record<keyof ModelForm, ModelFormProblem>>;

/** The fields that are hidden until somebody asks for more. */
export const furtherModelFields: readonly (keyof ModelForm)[] = [
  'parameters',
  'contextTokens',
  'toolBudget',
  'currency',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
];

/** Where the form shows a field of the request; nowhere where it has no such field now. */
export function modelFieldOf(
  field: string | undefined,
  form: ModelForm,
  model: ModelView | undefined,
): keyof ModelForm | undefined {
  const shown: (keyof ModelForm)[] = ['name', 'parameters', 'contextTokens', 'toolBudget'];
  if (!isOffered(model)) shown.push('baseUrl', 'model');
  if (!isOffered(model) && !form.removeKey) shown.push('key');
  if (field === 'prices') return 'currency';
  return shown.find((name) => name === field);
}

export function emptyModelForm(isDefault: boolean): ModelForm {
  const blank: ModelForm = {
    preset: OTHER_PROVIDER,
    baseUrl: '',
    key: '',
    removeKey: false,
    model: '',
    name: '',
    parameters: '',
    toolMode: 'auto',
    contextTokens: '',
    toolBudget: '',
    currency: '',
    input: '',
    output: '',
    cacheRead: '',
    cacheWrite: '',
    isDefault,
  };
  return choosePreset(blank, presets[0]?.id ?? OTHER_PROVIDER);
}

export function modelFormOf(model: ModelView): ModelForm {
  const { prices } = model;
  const baseUrl = model.baseUrl ?? '';
  return {
    preset: presetOf(baseUrl),
    baseUrl,
    provider: model.provider,
    key: '',
    removeKey: false,
    model: model.model ?? '',
    name: model.name,
    parameters:
      Object.keys(model.parameters).length > 0 ? JSON.stringify(model.parameters, null, 2) : '',
    toolMode: model.toolMode,
    contextTokens: model.contextTokens?.toString() ?? '',
    toolBudget: model.toolBudget?.toString() ?? '',
    currency: prices?.currency ?? '',
    input: prices?.input.toString() ?? '',
    output: prices?.output.toString() ?? '',
    cacheRead: prices?.cacheRead?.toString() ?? '',
    cacheWrite: prices?.cacheWrite?.toString() ?? '',
    isDefault: model.isDefault,
  };
}

/** Address and key belong to the endpoint that offers it, not to the model. */
export function isOffered(model: ModelView | undefined): boolean {
  return model?.origin === 'environment' || model?.origin === 'local';
}

export function choosePreset(form: ModelForm, id: string): ModelForm {
  const preset = presets.find((preset) => preset.id === id);
  const baseUrl = preset?.baseUrl ?? '';
  return checkMode({
    ...form,
    preset: preset?.id ?? OTHER_PROVIDER,
    baseUrl,
    provider: preset?.provider,
    // What was typed was typed for the one before.
    key: sameServer(form.baseUrl, baseUrl) ? form.key : '',
  });
}

export function typeAddress(form: ModelForm, baseUrl: string): ModelForm {
  const preset = presetOf(baseUrl);
  if (preset === form.preset) return { ...form, baseUrl };
  const provider = presets.find(({ id }) => id === preset)?.provider;
  return checkMode({ ...form, baseUrl, preset, provider });
}

export function chooseFormat(form: ModelForm, provider: WireFormat): ModelForm {
  return checkMode({ ...form, provider });
}

export function formatOf(form: ModelForm): WireFormat {
  return form.provider ?? 'openai';
}

/** The address and the format as the server found them to be. */
export function takeDiscovered(
  form: ModelForm,
  { provider, baseUrl }: ModelDiscoveryResponse,
): ModelForm {
  return checkMode({ ...form, provider, baseUrl, preset: presetOf(baseUrl) });
}

/** `before` is what was chosen from the same list: what it filled in is not the person's. */
export function chooseOffered(
  form: ModelForm,
  offered: OfferedModel,
  before: OfferedModel | undefined,
): ModelForm {
  const untouched = ['', before?.contextTokens?.toString()].includes(form.contextTokens);
  return {
    ...form,
    model: offered.model,
    name: form.name === before?.model ? '' : form.name,
    contextTokens: untouched ? (offered.contextTokens?.toString() ?? '') : form.contextTokens,
  };
}

export function discoverBody(form: ModelForm, model: ModelView | undefined): ModelDiscoveryRequest {
  const key = form.key.trim();
  const stored = !form.removeKey && keepsKey(form, model);
  return {
    baseUrl: form.baseUrl.trim(),
    provider: form.provider,
    ...(key ? { key } : stored ? { modelId: model?.id } : {}),
  };
}

/** A stored key is for the server it was given for, and not for whatever is typed next. */
export function keepsKey(form: ModelForm, model: ModelView | undefined): boolean {
  return model?.hasKey === true && sameServer(form.baseUrl.trim(), model.baseUrl);
}

/** Everything that keeps the form from being saved. */
export function modelFormProblems(
  form: ModelForm,
  model: ModelView | undefined,
): ModelFormProblems {
  const problems: ModelFormProblems = {};
  if (!isOffered(model)) {
    const address = form.baseUrl.trim();
    if (!address) problems.baseUrl = 'missing';
    if (!form.model.trim()) problems.model = 'missing';
    const needsKey = model?.hasKey && !form.removeKey && !form.key.trim();
    if (address && needsKey && !keepsKey(form, model)) problems.key = 'keyAgain';
  }
  const parameters = parametersOf(form.parameters);
  if (!parameters) problems.parameters = 'notJson';
  else if (RESERVED.some((name) => name in parameters)) problems.parameters = 'reserved';
  for (const field of ['contextTokens', 'toolBudget'] as const) {
    const count = form[field].trim();
    if (count && !(/^\d+$/.test(count) && Number(count) > 0)) problems[field] = 'notCount';
  }
  const wanted = hasPrices(form);
  if (wanted && !form.currency.trim()) problems.currency = 'missing';
  for (const field of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) {
    const text = form[field].trim();
    if (text ? priceOf(text) === undefined : wanted && !field.startsWith('cache')) {
      problems[field] = text ? 'notPrice' : 'missing';
    }
  }
  return problems;
}

/** Only for a form without problems, as the next one. */
export function newModel(form: ModelForm): NewModel {
  const key = form.key.trim();
  const name = form.name.trim();
  const prices = pricesOf(form);
  return {
    provider: formatOf(form),
    baseUrl: form.baseUrl.trim(),
    model: form.model.trim(),
    parameters: parametersOf(form.parameters) ?? {},
    toolMode: form.toolMode,
    ...(name && { name }),
    ...(key && { key }),
    ...(form.contextTokens.trim() && { contextTokens: Number(form.contextTokens) }),
    ...(form.toolBudget.trim() && { toolBudget: Number(form.toolBudget) }),
    ...(prices && { prices }),
    ...(form.isDefault && { isDefault: true }),
  };
}

/** What differs from the model as it is. */
export function modelChangeOf(form: ModelForm, model: ModelView): ModelChange {
  const change: ModelChange = {};
  const text = (value: string) => value.trim();
  if (!isOffered(model)) {
    if (text(form.baseUrl) !== model.baseUrl) change.baseUrl = text(form.baseUrl);
    if (formatOf(form) !== model.provider) change.provider = formatOf(form);
    if (text(form.model) !== model.model) change.model = text(form.model);
    if (form.removeKey) change.key = '';
    if (text(form.key)) change.key = text(form.key);
  }
  // Left empty, it is called what the endpoint calls it, as a new one would be.
  const name = text(form.name) || text(form.model);
  if (name && name !== model.name) change.name = name;
  const parameters = parametersOf(form.parameters) ?? {};
  if (JSON.stringify(parameters) !== JSON.stringify(model.parameters)) {
    change.parameters = parameters;
  }
  if (form.toolMode !== model.toolMode) change.toolMode = form.toolMode;
  const contextTokens = text(form.contextTokens) ? Number(form.contextTokens) : undefined;
  if (contextTokens !== model.contextTokens) change.contextTokens = contextTokens ?? null;
  const toolBudget = text(form.toolBudget) ? Number(form.toolBudget) : undefined;
  if (toolBudget !== model.toolBudget) change.toolBudget = toolBudget ?? null;
  const prices = pricesOf(form);
  if (!samePrices(prices, model.prices)) change.prices = prices ?? null;
  // The default changes only by making another model the default.
  if (form.isDefault && !model.isDefault) change.isDefault = true;
  return change;
}

/** Whether a change can make a model that worked fail. A test costs tokens. */
export function needsTest(change: ModelChange): boolean {
  const harmless = ['name', 'contextTokens', 'toolBudget', 'prices', 'isDefault'];
  return Object.keys(change).some((field) => !harmless.includes(field));
}

function sameServer(a: string, b: string | undefined): boolean {
  try {
    return b !== undefined && new URL(a).origin === new URL(b).origin;
  } catch {
    return false;
  }
}

function openai(id: string, name: string, baseUrl: string): Preset {
  return { id, name, provider: 'openai', baseUrl };
}

function presetOf(baseUrl: string): string {
  const plain = baseUrl.trim().replace(/\/+$/, '');
  return presets.find((preset) => preset.baseUrl === plain)?.id ?? OTHER_PROVIDER;
}

function checkMode(form: ModelForm): ModelForm {
  return isToolModeOf(form.toolMode, formatOf(form)) ? form : { ...form, toolMode: 'auto' };
}

function parametersOf(text: string): Record<string, unknown> | undefined {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function hasPrices(form: ModelForm): boolean {
  const { currency, input, output, cacheRead, cacheWrite } = form;
  return [currency, input, output, cacheRead, cacheWrite].some((text) => text.trim() !== '');
}

function pricesOf(form: ModelForm): Prices | undefined {
  if (!hasPrices(form)) return undefined;
  const cacheRead = priceOf(form.cacheRead.trim());
  const cacheWrite = priceOf(form.cacheWrite.trim());
  return {
    currency: form.currency.trim(),
    input: priceOf(form.input.trim()) ?? 0,
    output: priceOf(form.output.trim()) ?? 0,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

function priceOf(text: string): number | undefined {
  return /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : undefined;
}

function samePrices(a: Prices | undefined, b: Prices | undefined): boolean {
  return (
    a?.currency === b?.currency &&
    a?.input === b?.input &&
    a?.output === b?.output &&
    a?.cacheRead === b?.cacheRead &&
    a?.cacheWrite === b?.cacheWrite
  );
}
