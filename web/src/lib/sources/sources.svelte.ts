// The servers this person has tools from, as they stand now. The socket says when
// one changes: what it says is shown at once, and the rest is asked for.
import { untrack } from 'svelte';
import { RemoteList } from '$lib/account/remoteList.svelte';
import { sources } from '$lib/api/sources';
import type { SourceDetail, SourceNews } from '$lib/api/types';
import { onSourcesChange } from './events';

/** A server that comes up changes several times in a moment: one question is enough for them. */
export const SOURCES_DEBOUNCE_MS = 150;

export class Sources {
  readonly listing = new RemoteList<SourceDetail>(sources.all);
  /** What the socket said since the list was asked for last. */
  #news = $state.raw<ReadonlyMap<string, SourceNews>>(new Map());
  #settling?: ReturnType<typeof setTimeout>;

  items = $derived(
    this.listing.items
      .filter(({ id }) => !this.#news.get(id)?.gone)
      .map((source) => withNews(source, this.#news.get(source.id))),
  );

  /** Keeps itself fresh until the function it returns is called. */
  start(): () => void {
    const stop = onSourcesChange((news) => this.take(news));
    // Whoever starts it in an effect does not start it anew at every change.
    void untrack(() => this.refresh());
    return () => {
      stop();
      clearTimeout(this.#settling);
    };
  }

  take(news?: SourceNews): void {
    const shown = this.items.find(({ id }) => id === news?.sourceId);
    if (news) this.#news = new Map(this.#news).set(news.sourceId, news);
    // Start-up progress is complete in the event.
    if (news?.startup && shown?.startup && shown.state === news.state) return;
    // Not restarted by later events: a steady stream of them would postpone it forever.
    this.#settling ??= setTimeout(() => void this.refresh(), SOURCES_DEBOUNCE_MS);
  }

  /** Fails never: the listing says what went wrong. */
  async refresh(): Promise<void> {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    const before = this.#news;
    await this.listing.refresh();
    // The answer knows what was said before the question, and may not know what was said since.
    this.#news = new Map([...this.#news].filter(([id, news]) => before.get(id) !== news));
  }

  /** Updates one from a response. */
  put(source: SourceDetail): void {
    this.#news = new Map([...this.#news].filter(([id]) => id !== source.id));
    this.listing.put(source);
  }
}

function withNews(source: SourceDetail, news: SourceNews | undefined): SourceDetail {
  if (!news) return source;
  const { sourceId: _id, gone: _gone, revision: _revision, ...now } = news;
  const { why: _why, startup: _startup, ...rest } = source as SourceDetail & { why?: string };
  return { ...rest, ...now } as SourceDetail;
}
