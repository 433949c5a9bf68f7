// Which model answers the next message of a chat: what the reader picked here,
// else who answered last, else the default. A model that is gone is replaced by
// the default, never by silence.
import type { ModelId, ModelInfo, ModelRef, ModelView } from '$lib/api/types';

export interface Choice {
  /** Absent until anything is known. */
  model?: { id: ModelId; name: string; builtin: boolean };
  /** What a turn is told; nothing means the default. */
  send?: ModelId;
  /** What should have answered, had it not gone. */
  missing?: ModelRef;
}

interface Known {
  /** Absent until the list has been had. */
  models: readonly ModelView[] | undefined;
  /** The default, as the server introduced itself. */
  info: ModelInfo | undefined;
  picked: ModelRef | undefined;
  /** Who answered last in this chat. */
  last: ModelRef | undefined;
}

export function chooseModel({ models, info, picked, last }: Known): Choice {
  const wanted = picked ?? last;
  if (!models) {
    if (!wanted) return { model: info };
    const isDefault = wanted.id === info?.id;
    return {
      model: { ...wanted, builtin: isDefault && info.builtin },
      // Not knowing what there is, the server is asked for what was wanted; it says if that is gone.
      send: isDefault && !picked ? undefined : wanted.id,
    };
  }
  const fallback = defaultModel(models);
  const found = models.find(({ id }) => id === wanted?.id);
  if (found)
    return { model: view(found), send: picked || found !== fallback ? found.id : undefined };
  return { model: fallback ? view(fallback) : info, missing: wanted };
}

export function defaultModel(models: readonly ModelView[]): ModelView | undefined {
  return models.find(({ isDefault }) => isDefault) ?? models.find(isBuiltin);
}

export function isBuiltin({ origin }: ModelView): boolean {
  return origin === 'builtin';
}

function view(model: ModelView): Choice['model'] {
  return { id: model.id, name: model.name, builtin: isBuiltin(model) };
}
