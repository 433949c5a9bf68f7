// What the page shows of experts, as one chunk: the first visit does not wait for it.
export { default as ExpertLinks } from './ExpertLinks.svelte';
export { default as ExpertMenu } from './ExpertMenu.svelte';
export { default as ExpertWelcome } from './ExpertWelcome.svelte';
