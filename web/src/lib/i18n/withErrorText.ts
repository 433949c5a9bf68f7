import { errorText } from './errorText';

/** Rethrows an API error with its text for the person. */
export async function withErrorText<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    throw new Error(errorText(error));
  }
}
