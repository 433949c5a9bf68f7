// Models that are connected and changed in the settings. Each of these fails with what the server
// said: the panel shows it, at the field that it is about.
import type { ModelChange, ModelId, NewModel } from '$lib/api/types';
import { needsTest } from './form';
import type { Models } from './models.svelte';

/** Connects a model and tries it. Who makes it the default means to talk to it. */
export async function connectModel(models: Models, model: NewModel): Promise<ModelId> {
  const id = await models.add(model);
  if (model.isDefault) models.pick({ id, name: model.name ?? model.model });
  void models.test(id);
  return id;
}

/** Connects several at once. Trying each would cost time and tokens: only a new default is
    tried. */
export async function connectModels(
  models: Models,
  added: readonly NewModel[],
  done: (count: number) => void,
): Promise<void> {
  const ids = await models.addAll(added, done);
  const index = added.findIndex(({ isDefault }) => isDefault);
  const [id, model] = [ids[index], added[index]];
  if (!id || !model) return;
  models.pick({ id, name: model.name ?? model.model });
  void models.test(id);
}

export async function changeModel(models: Models, id: ModelId, change: ModelChange): Promise<void> {
  if (Object.keys(change).length === 0) return;
  await models.change(id, change);
  if (needsTest(change)) void models.test(id);
}
