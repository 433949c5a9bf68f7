import { expect, test } from 'vitest';
import { Once } from './once.svelte';

test('who sees what is shown once is not let go before they have it', () => {
  const once = new Once();
  expect(once.mayLeave()).toBe(true);
  once.inSight = true;
  expect([once.mayLeave(), once.mayLeave(), once.asked]).toEqual([false, false, 2]);
  once.inSight = false;
  expect(once.mayLeave()).toBe(true);
});
