// Which models see pictures.
import type { ModelView } from '$lib/api/types';
import { isBuiltin } from './choice';

/** Not every server tells of it. */
type MaybeSeeing = ModelView & { seesImages?: boolean };

/** Whether a picture would be sent in vain: this model is known not to see. */
export function isBlind(model: MaybeSeeing | undefined): boolean {
  return model !== undefined && (isBuiltin(model) || model.seesImages === false);
}
