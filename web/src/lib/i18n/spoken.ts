import { inWords } from './inWords';

/** The same call, which fails with a sentence for the person. */
export async function spoken<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    throw new Error(inWords(error));
  }
}
