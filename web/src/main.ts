import { mount } from 'svelte';
import './app.css';
import './shared.css';
// Before anything else reads the address.
import '$lib/account/setupCode.svelte';
import Root from './Root.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
mount(Root, { target });
