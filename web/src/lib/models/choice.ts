// Which model answers the next message of a chat: what the reader picked here, else that of the
// chat's expert, else who answered last, else the default. A model that is gone is replaced by the
// default, never by silence; and what was said on this computer does not leave it because of that.
import type { EndpointView, ModelId, ModelInfo, ModelRef, ModelView } from '$lib/api/types';

export const BUILTIN_ID = 'builtin';

/** In a chat that somebody shows to others models have no ids, and this one is known by its
    name. */
export function isSharedBuiltin({ id, name }: ModelRef): boolean {
  return !id && name === 'Built-in assistant';
}

export interface ModelChoice {
  /** Absent until anything is known. */
  model?: { id: ModelId; name: string; builtin: boolean };
  /** Sent with a turn; nothing means the default. */
  send?: ModelId;
  /** What should have answered, had it not gone. */
  missing?: ModelRef;
  /** What is missing ran on this computer and its replacement does not: a person has to say so. */
  undecided?: true;
}

interface Known {
  /** Absent until the list has been had. */
  models: readonly ModelView[] | undefined;
  endpoints: readonly EndpointView[];
  /** The default, as the server introduced itself. */
  info: ModelInfo | undefined;
  picked: ModelRef | undefined;
  /** The one that the chat's expert has. */
  ofExpert?: ModelId;
  /** Who answered last in this chat. */
  last: ModelRef | undefined;
}

export function chooseModel(known: Known): ModelChoice {
  const { models, endpoints, info, picked, ofExpert, last } = known;
  const wanted = picked ?? (ofExpert ? refOf(ofExpert, models) : last);
  if (!models) {
    if (!wanted) return { model: info };
    const isDefault = wanted.id === info?.id;
    return {
      model: { ...wanted, builtin: isDefault && info.builtin },
      // Not knowing what there is, the server is asked for what was wanted; it says if that is
      // gone.
      send: isDefault && !picked ? undefined : wanted.id,
    };
  }
  const fallback = defaultModel(models);
  const found = models.find(({ id }) => id === wanted?.id);
  if (found)
    return { model: view(found), send: picked || found !== fallback ? found.id : undefined };
  const undecided = wanted && fallback && ranHere(wanted, endpoints) && !runsHere(fallback);
  return {
    model: fallback ? view(fallback) : info,
    missing: wanted,
    ...(undecided && { undecided }),
  };
}

export function defaultModel(models: readonly ModelView[]): ModelView | undefined {
  return models.find(({ isDefault }) => isDefault) ?? models.find(isBuiltin);
}

export function isBuiltin({ origin }: ModelView): boolean {
  return origin === 'builtin';
}

/** "ollama:llama3.2" is offered by an endpoint. One of this computer that does not run is not
    listed. */
function ranHere({ id }: ModelRef, endpoints: readonly EndpointView[]): boolean {
  const [endpointId] = id.split(':', 1);
  if (endpointId === id) return false;
  return !endpoints.some(({ id, origin }) => id === endpointId && origin === 'environment');
}

function runsHere({ origin, baseUrl = '' }: ModelView): boolean {
  if (origin === 'builtin' || origin === 'local') return true;
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/i.test(baseUrl.trim());
}

function refOf(id: ModelId, models: readonly ModelView[] = []): ModelRef {
  return { id, name: models.find((model) => model.id === id)?.name ?? id };
}

function view(model: ModelView): ModelChoice['model'] {
  return { id: model.id, name: model.name, builtin: isBuiltin(model) };
}
