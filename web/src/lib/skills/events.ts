// Change events of skills: the socket receives them, and the views that show skills subscribe.
import { Listeners } from '$lib/listeners';

export const skillChanges = new Listeners();
