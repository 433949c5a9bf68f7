import { expect, test } from 'vitest';
import type { ModelView } from '$lib/api/types';
import { emptyModelForm } from './form';
import { modelsOfEndpoint } from './wholeEndpoint';

const form = {
  ...emptyModelForm(true),
  baseUrl: 'http://models.test/v1',
  key: 'sk-1',
  name: 'Mine',
  contextTokens: '10',
};
const offers = [{ model: 'small', contextTokens: 4096 }, { model: 'large' }];

test('every model that an endpoint offers is connected with the same address and key', () => {
  const common = {
    provider: 'openai',
    baseUrl: 'http://models.test/v1',
    key: 'sk-1',
    parameters: {},
    toolMode: 'auto',
  };
  expect(modelsOfEndpoint(form, offers, [])).toEqual([
    { ...common, model: 'small', contextTokens: 4096, isDefault: true },
    { ...common, model: 'large' },
  ]);
});

test('a model that is connected already is not connected twice', () => {
  const known = (baseUrl: string, model: string) => ({ baseUrl, model }) as ModelView;
  const left = (...connected: ModelView[]) =>
    modelsOfEndpoint(form, offers, connected).map(({ model }) => model);
  expect(left(known('http://models.test/v1', 'small'))).toEqual(['large']);
  expect(left(known('http://elsewhere.test/v1', 'small'))).toEqual(['small', 'large']);
});
