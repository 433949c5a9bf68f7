import { expect, test } from 'vitest';
import { OneTimeSecret } from './oneTimeSecret.svelte';

test('who sees what is shown once is not let go before they have it', () => {
  const secret = new OneTimeSecret();
  expect(secret.mayLeave()).toBe(true);
  secret.inSight = true;
  expect([secret.mayLeave(), secret.mayLeave(), secret.asked]).toEqual([false, false, 2]);
  secret.inSight = false;
  expect(secret.mayLeave()).toBe(true);
});
