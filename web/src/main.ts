import { mount } from 'svelte';
import './app.css';
import './shared.css';
// Before anything else reads the address.
import '$lib/account/setupCode.svelte';
import { reportMissingParts } from '$lib/missingParts';
import Root from './Root.svelte';

reportMissingParts();

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
mount(Root, { target });
