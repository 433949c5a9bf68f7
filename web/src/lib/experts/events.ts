// Change events of experts and saved prompts: the socket receives them, and the views that show
// these subscribe.
import { Listeners } from '$lib/listeners';

export const expertChanges = new Listeners();
