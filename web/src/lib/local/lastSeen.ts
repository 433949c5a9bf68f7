// Tools of this computer that Tenon still lists, by the address that offered them.
import type { LocalEndpoint, ToolView } from '$lib/api/types';
import { canonicalUrl } from './address';
import { candidateUrls } from './discover';

/** Counts those that came from an address. `isHere` says whether a source is on this computer. */
export function lastSeenTools(
  tools: readonly ToolView[],
  isHere: (source: ToolView['source']) => boolean,
): (endpoint: Pick<LocalEndpoint, 'url'>) => number {
  const counts = new Map<string, number>();
  for (const { source } of tools) {
    if (!source.local || !isHere(source)) continue;
    const place = canonicalUrl(source.local.url);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return ({ url }) => {
    const places = new Set(candidateUrls(url).map(canonicalUrl));
    return [...places].reduce((sum, place) => sum + (counts.get(place) ?? 0), 0);
  };
}
