// Tools of a person's other computers. The server offers them to a model like any others, unless
// the computer in use has tools of its own.
import type { ContextView, ToolId, ToolView } from '$lib/api/types';
import { storedDevice } from '$lib/local/device';

/** The tools that the server has decided about: told to the model, or left out with a reason. */
export function settledTools(
  context: Pick<ContextView, 'tools' | 'leftOut'> | undefined,
): ReadonlySet<ToolId> {
  const omitted = context?.leftOut ?? [];
  return new Set([...(context?.tools ?? []), ...omitted.map(({ toolId }) => toolId)]);
}

/** How many the model is not told of since they are on another computer. `callable` are all that can
    be called. One that a person named or switched on is settled, and is told all the same. */
export function countElsewhere(
  callable: readonly ToolView[],
  settled: ReadonlySet<ToolId>,
): number {
  const here = storedDevice()?.id;
  const local = callable.filter(({ source }) => source.local);
  if (!local.some(({ source }) => source.local?.deviceId === here)) return 0;
  return local.filter(
    ({ toolId, source }) => source.local?.deviceId !== here && !settled.has(toolId),
  ).length;
}
