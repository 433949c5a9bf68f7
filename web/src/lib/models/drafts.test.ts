import { expect, test } from 'vitest';
import { draftOf, dropDraft, keepDraft } from './drafts';
import { emptyForm, formOf } from './form';
import { modelView } from './story';

test('what was filled in is there again, until it is dropped', () => {
  const form = { ...emptyForm(true), key: 'sk-1' };
  keepDraft(undefined, form);
  expect(draftOf(undefined)).toEqual(form);
  dropDraft(undefined);
  expect(draftOf(undefined)).toBeUndefined();
});

test('a form that nobody changed is no draft', () => {
  keepDraft(undefined, emptyForm(false));
  keepDraft(undefined, emptyForm(true));
  expect(draftOf(undefined)).toBeUndefined();
  const model = modelView('m1');
  keepDraft(model, { ...formOf(model), name: 'Other' });
  keepDraft(model, formOf(model));
  expect(draftOf(model)).toBeUndefined();
});

test('a model that was changed meanwhile is shown as it is', () => {
  const model = modelView('m1');
  keepDraft(model, { ...formOf(model), name: 'Other' });
  expect(draftOf(model)).toMatchObject({ name: 'Other' });
  expect(draftOf({ ...model, name: 'New' })).toBeUndefined();
  expect(draftOf(modelView('m2'))).toBeUndefined();
});
