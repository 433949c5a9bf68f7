import type { EndpointView } from '$lib/api/types';
import { describeError } from '$lib/i18n/errorText';
import { language } from '$lib/i18n/language.svelte';

/** Why an endpoint offers nothing. Those on this machine share a heading, so their names are
    said. */
export function endpointProblem({ name, origin, error }: EndpointView): string {
  const why = error ? describeError(error) : '';
  return origin === 'local' ? language.messages.endpointSays(name, why) : why;
}
