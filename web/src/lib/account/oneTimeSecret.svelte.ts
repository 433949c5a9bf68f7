// Secrets that are shown only once: a new API key, an invitation link. They are kept until the
// person has confirmed with “Done”, and leaving the page by accident is prevented meanwhile.
import type { CreatedKey } from '$lib/api/types';

export class OneTimeSecret {
  key = $state.raw<CreatedKey>();
  link = $state('');
  /** It is visible now. */
  inSight = $state(false);
  /** How often the person tried to leave while it was visible. */
  asked = $state(0);

  /** Whether the person may leave; if not, the secret asks for attention. */
  mayLeave = (): boolean => {
    if (this.inSight) this.asked++;
    return !this.inSight;
  };
}

export const oneTimeSecret = new OneTimeSecret();
