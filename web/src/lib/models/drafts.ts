// Forms that were closed before they were saved, for as long as the page lives:
// an Esc too many must not cost what was typed. Nowhere else, as a key may be in them.
import type { ModelView } from '$lib/api/types';
import { emptyModelForm, modelFormOf, type ModelForm } from './form';

const drafts = new Map<string, { from: string; form: ModelForm }>();

/** What was filled in and not saved. Of a model that was changed meanwhile, nothing is. */
export function draftOf(model: ModelView | undefined): ModelForm | undefined {
  const draft = drafts.get(keyOf(model));
  return draft?.from === beginning(model) ? draft?.form : undefined;
}

/** A form in which nothing was changed is no draft. */
export function keepDraft(model: ModelView | undefined, form: ModelForm): void {
  const untouched = model ? modelFormOf(model) : emptyModelForm(form.isDefault);
  if (JSON.stringify(form) === JSON.stringify(untouched)) dropDraft(model);
  else drafts.set(keyOf(model), { from: beginning(model), form });
}

export function dropDraft(model: ModelView | undefined): void {
  drafts.delete(keyOf(model));
}

function keyOf(model: ModelView | undefined): string {
  return model?.id ?? '';
}

function beginning(model: ModelView | undefined): string {
  return model ? JSON.stringify(modelFormOf(model)) : '';
}
