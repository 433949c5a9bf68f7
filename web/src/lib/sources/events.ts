// Change events of sources: the socket receives them, and the views that show sources subscribe.
import type { SourceUpdate } from '$lib/api/types';
import { Listeners } from '$lib/listeners';

/** Without details where anything may have changed. */
const listeners = new Listeners<[news?: SourceUpdate]>();

export const onSourcesChange = (listener: (news?: SourceUpdate) => void) => listeners.add(listener);
export const emitSourcesChange = (news?: SourceUpdate) => listeners.emit(news);
