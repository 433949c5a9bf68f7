import { expect, test } from 'vitest';
import { draftOf, dropDraft, keepDraft } from './drafts';
import { emptyModelForm, modelFormOf } from './form';
import { modelView } from './fixtures';

test('what was filled in is there again, until it is dropped', () => {
  const form = { ...emptyModelForm(true), key: 'sk-1' };
  keepDraft(undefined, form);
  expect(draftOf(undefined)).toEqual(form);
  dropDraft(undefined);
  expect(draftOf(undefined)).toBeUndefined();
});

test('a form that nobody changed is no draft', () => {
  keepDraft(undefined, emptyModelForm(false));
  keepDraft(undefined, emptyModelForm(true));
  expect(draftOf(undefined)).toBeUndefined();
  const model = modelView('m1');
  keepDraft(model, { ...modelFormOf(model), name: 'Other' });
  keepDraft(model, modelFormOf(model));
  expect(draftOf(model)).toBeUndefined();
});

test('a model that was changed meanwhile is shown as it is', () => {
  const model = modelView('m1');
  keepDraft(model, { ...modelFormOf(model), name: 'Other' });
  expect(draftOf(model)).toMatchObject({ name: 'Other' });
  expect(draftOf({ ...model, name: 'New' })).toBeUndefined();
  expect(draftOf(modelView('m2'))).toBeUndefined();
});
