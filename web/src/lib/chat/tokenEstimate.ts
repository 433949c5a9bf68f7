// A rough count of tokens, good enough to warn by; the server counts exactly.

/** Models read text of the Latin alphabet in pieces of about four characters. */
const CHARS_PER_TOKEN = 4;

/** Chinese characters, kana and hangul are about a token each. */
export function estimateTokens(text: string): number {
  const wide = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu,
  );
  const wideCount = wide?.length ?? 0;
  return Math.ceil(wideCount + (text.length - wideCount) / CHARS_PER_TOKEN);
}
