// Change events of sources: the socket receives them, and the views that show sources subscribe.
import type { SourceNews } from '$lib/api/types';
import { Listeners } from '$lib/listeners';

/** Without details where anything may have changed. */
const listeners = new Listeners<[news?: SourceNews]>();

export const onSourcesChange = (listener: (news?: SourceNews) => void) => listeners.add(listener);
export const emitSourcesChange = (news?: SourceNews) => listeners.emit(news);
