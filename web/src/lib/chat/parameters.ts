// The parameters of a chat as a form: texts, and what of them is sent.
import type { ModelParameter, ModelParameters, ModelView, ReasoningEffort } from '$lib/api/types';

export const parameterNames = ['temperature', 'topP', 'maxTokens', 'effort'] as const;
export const efforts = ['low', 'medium', 'high'] as const;

export interface ParameterForm {
  temperature: string;
  topP: string;
  maxTokens: string;
  /** Empty: as the model does by itself. */
  effort: ReasoningEffort | '';
}

/** What a number may be. */
const RANGES = {
  temperature: { min: 0, max: 2, whole: false },
  topP: { min: 0, max: 1, whole: false },
  maxTokens: { min: 1, max: 1_000_000, whole: true },
} as const;

export type NumberName = keyof typeof RANGES;

/** Those that the model has; all of them while it is not known. */
export function parametersOf(model: ModelView | undefined): readonly ModelParameter[] {
  return model?.takes ?? parameterNames;
}

export function parameterForm(parameters: ModelParameters): ParameterForm {
  const number = (value: number | undefined) => (value === undefined ? '' : String(value));
  return {
    temperature: number(parameters.temperature),
    topP: number(parameters.topP),
    maxTokens: number(parameters.maxTokens),
    effort: parameters.effort ?? '',
  };
}

/** The fields whose text is no number, or none that is allowed. */
export function wrongParameters(form: ParameterForm): NumberName[] {
  return (Object.keys(RANGES) as NumberName[]).filter((name) => {
    const text = form[name].trim();
    if (text === '') return false;
    const value = Number(text);
    const { min, max, whole } = RANGES[name];
    return !(value >= min && value <= max) || (whole && !Number.isInteger(value));
  });
}

export function chatParameters(form: ParameterForm): ModelParameters {
  const number = (name: NumberName) => {
    const text = form[name].trim();
    return text === '' ? {} : { [name]: Number(text) };
  };
  return {
    ...number('temperature'),
    ...number('topP'),
    ...number('maxTokens'),
    ...(form.effort && { effort: form.effort }),
  };
}
