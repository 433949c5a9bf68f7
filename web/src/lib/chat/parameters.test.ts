import { expect, test } from 'vitest';
import { modelView } from '$lib/models/fixtures';
import { chatParameters, parameterForm, parametersOf, wrongParameters } from './parameters';

test('a form and its parameters are two forms of the same', () => {
  const parameters = { temperature: 0, maxTokens: 512, effort: 'high' } as const;
  expect(chatParameters(parameterForm(parameters))).toEqual(parameters);
  expect(chatParameters(parameterForm({}))).toEqual({});
});

test('numbers that no model takes are wrong', () => {
  const check = (change: Partial<ReturnType<typeof parameterForm>>, wrong: string[]) =>
    expect(wrongParameters({ ...parameterForm({}), ...change })).toEqual(wrong);
  check({}, []);
  check({ temperature: ' 0.7 ', topP: '1', maxTokens: '1' }, []);
  check({ temperature: '2.1' }, ['temperature']);
  check({ temperature: 'hot' }, ['temperature']);
  check({ topP: '-0.1' }, ['topP']);
  check({ maxTokens: '0' }, ['maxTokens']);
  check({ maxTokens: '1.5' }, ['maxTokens']);
});

test('a form has the parameters that the model has', () => {
  expect(parametersOf(modelView('a', { takes: [] }))).toEqual([]);
  expect(parametersOf(modelView('a', { takes: ['maxTokens'] }))).toEqual(['maxTokens']);
  expect(parametersOf(undefined)).toContain('effort');
});
