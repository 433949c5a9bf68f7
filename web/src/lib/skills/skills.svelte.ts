// The skills that this person sees, as they stand now.
import { RemoteList } from '$lib/account/remoteList.svelte';
import { skills } from '$lib/api/skills';
import type { SkillView } from '$lib/api/types';
import { onSourcesChange } from '$lib/sources/events';
import { skillChanges } from './events';

/** While packages are set up, nothing else tells how far that is. */
const POLL_INTERVAL_MS = 2_000;

export class Skills {
  readonly listing = new RemoteList<SkillView>(() => skills.all());
  items = $derived(this.listing.items);

  /** Keeps itself fresh until the function it returns is called. */
  start(): () => void {
    const stop = this.listing.start({ add: onSkillsChange });
    const poll = setInterval(() => {
      if (this.items.some(({ state }) => state === 'starting')) void this.refresh();
    }, POLL_INTERVAL_MS);
    return () => {
      clearInterval(poll);
      stop();
    };
  }

  /** Never fails: the listing says what went wrong. */
  refresh(): Promise<void> {
    return this.listing.refresh();
  }

  /** Shows one as a response has it. */
  put(skill: SkillView): void {
    this.listing.put(skill);
  }
}

/** A skill is where tools come from, too. */
function onSkillsChange(listener: () => void): () => void {
  const stops = [onSourcesChange(() => listener()), skillChanges.add(listener)];
  return () => stops.forEach((stop) => stop());
}
