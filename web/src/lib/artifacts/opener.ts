// A context by which code in an answer opens the panel of artifacts.
import { getContext, setContext } from 'svelte';
import type { ArtifactSource } from './artifact';

const CONTEXT_KEY = Symbol('artifact opener');

export type ArtifactOpener = (source: ArtifactSource) => void;

export function setArtifactOpener(open: ArtifactOpener): void {
  setContext(CONTEXT_KEY, open);
}

/** Absent where there is no panel. */
export function getArtifactOpener(): ArtifactOpener | undefined {
  return getContext<ArtifactOpener | undefined>(CONTEXT_KEY);
}
