// The models as a person looks for them: by where they come from.
import type { EndpointView, ModelView } from '$lib/api/types';

export interface ModelGroup {
  key: string;
  kind: 'builtin' | 'added' | 'endpoint' | 'local';
  /** The endpoint's own name; the other kinds have words of the page. */
  name: string;
  models: ModelView[];
  /** More than one endpoint offers what stands here, filtered or not. */
  mixed: boolean;
  /** Endpoints of this group that offer nothing now, and say why. */
  problems: EndpointView[];
}

/** More than this many are searched rather than read. */
export const FILTER_FROM = 9;

/**
 * Groups in a fixed order. Within one, what people added stands as they added it,
 * and what an endpoint offers by name: its order changes with what is saved here.
 */
export function groupModels(
  models: readonly ModelView[],
  endpoints: readonly EndpointView[],
  filter = '',
  nameOf: (model: ModelView) => string = (model) => model.name,
): ModelGroup[] {
  const words = textsOf(filter);
  const groups = new Map<string, ModelGroup>();
  const groupOf = (origin: ModelView['origin'], endpoint = '') => {
    const kind = origin === 'environment' ? 'endpoint' : origin;
    const name = kind === 'endpoint' ? endpoint : '';
    const key = `${kind} ${name}`;
    const group = groups.get(key) ?? { key, kind, name, models: [], mixed: false, problems: [] };
    groups.set(key, group);
    return group;
  };
  for (const model of models) {
    const text = [nameOf(model), model.name, model.model, model.endpoint].join(' ').toLowerCase();
    if (words.every((word) => text.includes(word))) {
      groupOf(model.origin, model.endpoint).models.push(model);
    }
  }
  if (words.length === 0) {
    for (const endpoint of endpoints) {
      if (endpoint.error) groupOf(endpoint.origin, endpoint.name).problems.push(endpoint);
    }
  }
  const local = models.filter(({ origin }) => origin === 'local');
  const mixed = new Set(local.map(({ endpoint }) => endpoint)).size > 1;
  for (const group of groups.values()) {
    if (group.kind === 'endpoint' || group.kind === 'local') group.models.sort(byName);
    group.mixed = group.kind === 'local' && mixed;
  }
  const order = ['builtin', 'added', 'endpoint', 'local'];
  return [...groups.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/** What could answer in place of the built-in assistant: what was added, then what runs here. */
export function suggestedModels(models: readonly ModelView[]): ModelGroup[] {
  const order = ['added', 'local', 'endpoint'];
  return groupModels(
    models.filter(({ unusable }) => !unusable),
    [],
  )
    .filter(({ kind }) => kind !== 'builtin')
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/** The items that hold every word of the filter, in any order. */
export function filterByText<Item>(
  items: readonly Item[],
  filter: string,
  textOf: (item: Item) => string,
): Item[] {
  const words = textsOf(filter);
  return items.filter((item) => {
    const text = textOf(item).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function byName(a: ModelView, b: ModelView): number {
  const text = ({ endpoint = '', model = '', name }: ModelView) => `${endpoint} ${model || name}`;
  return text(a).localeCompare(text(b), 'en', { numeric: true });
}

function textsOf(filter: string): string[] {
  return filter.toLowerCase().split(/\s+/).filter(Boolean);
}
