// Runs before each test file. Files share one jsdom and its modules, so what one may leave
// behind is reset here.
import { vi } from 'vitest';
import { language } from '$lib/i18n/language.svelte';
import { setStorageAccount } from '$lib/storage';

vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllGlobals();
language.use('en');
setStorageAccount(undefined);
localStorage.clear();
sessionStorage.clear();
history.replaceState(null, '', '/');
document.body.replaceChildren();
