import { MediaQuery } from 'svelte/reactivity';

/** Room for one column only. */
export const narrow = new MediaQuery('width < 768px');
