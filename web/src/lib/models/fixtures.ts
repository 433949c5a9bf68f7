// Models for tests.
import type { ModelView } from '$lib/api/types';

export function modelView(id: string, change: Partial<ModelView> = {}): ModelView {
  return {
    id,
    name: id,
    origin: 'added',
    hasKey: false,
    parameters: {},
    toolMode: 'auto',
    compactTools: false,
    takes: ['temperature', 'topP', 'maxTokens', 'effort'],
    isDefault: false,
    saved: true,
    ...change,
  };
}
