// All models of one endpoint, connected at once with the same address, key and settings.
import type { ModelView, NewModel, OfferedModel } from '$lib/api/types';
import { chooseOffered, newModel, type ModelForm } from './form';

/** What is to be connected: what the endpoint offers and is not connected yet. Only the first of
    them can become the default. */
export function modelsOfEndpoint(
  form: ModelForm,
  offers: readonly OfferedModel[],
  connected: readonly ModelView[],
): NewModel[] {
  const place = form.baseUrl.trim();
  const known = new Set(
    connected.filter(({ baseUrl }) => baseUrl === place).map(({ model }) => model),
  );
  return offers
    .filter(({ model }) => !known.has(model))
    .map((offer, index) =>
      newModel({
        // A name is one model's, and so is the size of its context.
        ...chooseOffered({ ...form, name: '', contextTokens: '' }, offer, undefined),
        isDefault: form.isDefault && index === 0,
      }),
    );
}
