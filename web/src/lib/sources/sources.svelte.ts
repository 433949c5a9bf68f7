// The servers this person has tools from, as they stand now. The socket says when
// one changes: what it says is shown at once, and the rest is asked for.
import { RemoteList } from '$lib/account/remoteList.svelte';
import { sources } from '$lib/api/sources';
import type { SourceDetail, SourceUpdate } from '$lib/api/types';
import { onSourcesChange } from './events';

export class Sources {
  readonly listing = new RemoteList<SourceDetail>(() => this.#ask());
  /** What the socket said since the list was asked for last. */
  #news = $state.raw<ReadonlyMap<string, SourceUpdate>>(new Map());

  items = $derived(
    this.listing.items
      .filter(({ id }) => !this.#news.get(id)?.gone)
      .map((source) => withNews(source, this.#news.get(source.id))),
  );

  /** Keeps itself fresh until the function it returns is called. */
  start(): () => void {
    const add = (refresh: () => void) =>
      onSourcesChange((news) => {
        if (this.#take(news)) refresh();
      });
    return this.listing.start({ add });
  }

  /** Never fails: the listing says what went wrong. */
  refresh(): Promise<void> {
    return this.listing.refresh();
  }

  /** Updates one from a response. */
  put(source: SourceDetail): void {
    this.#news = new Map([...this.#news].filter(([id]) => id !== source.id));
    this.listing.put(source);
  }

  /** Whether the list has to be read again. */
  #take(news?: SourceUpdate): boolean {
    const shown = this.items.find(({ id }) => id === news?.sourceId);
    if (news) this.#news = new Map(this.#news).set(news.sourceId, news);
    // Start-up progress is complete in the event.
    return !(news?.startup && shown?.startup && shown.state === news.state);
  }

  async #ask(): Promise<SourceDetail[]> {
    const before = this.#news;
    const all = await sources.all();
    // The answer knows what was said before the question, and may not know what was said since.
    this.#news = new Map([...this.#news].filter(([id, news]) => before.get(id) !== news));
    return all;
  }
}

function withNews(source: SourceDetail, news: SourceUpdate | undefined): SourceDetail {
  if (!news) return source;
  const { sourceId: _id, gone: _gone, revision: _revision, ...now } = news;
  const { why: _why, startup: _startup, ...rest } = source as SourceDetail & { why?: string };
  return { ...rest, ...now } as SourceDetail;
}
