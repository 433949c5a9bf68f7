// Change events of accounts and of preferences: the socket receives them, and the views that
// show these subscribe.
import { Listeners } from '$lib/listeners';

/** Accounts, sessions, keys, invitations. */
export const accountChanges = new Listeners();
/** Preferences, this person's and everybody's. */
export const settingChanges = new Listeners();
