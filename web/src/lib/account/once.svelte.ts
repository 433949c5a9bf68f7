// What is shown this once and never again: a new key, the link of an invitation.
// It is kept, wherever the person goes meanwhile, until they say that they have it;
// and while it is in sight they are not let go by accident.
import type { CreatedKey } from '$lib/api/types';

export class Once {
  key = $state.raw<CreatedKey>();
  link = $state('');
  /** It stands on the page now. */
  inSight = $state(false);
  /** How often somebody wanted to leave while it stood there. */
  asked = $state(0);

  /** Whether one may go; where not, what is shown asks for attention. */
  mayLeave = (): boolean => {
    if (this.inSight) this.asked++;
    return !this.inSight;
  };
}

export const once = new Once();
