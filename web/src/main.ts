import { mount } from 'svelte';
import './app.css';
// Before anything else reads the address.
import '$lib/account/code.svelte';
import Root from './Root.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
mount(Root, { target });
