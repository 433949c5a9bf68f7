// What a tool says of itself, as people read it.

/** Without the words for finding it that stand in brackets at its end: "(计算, 計算, 算一下)". */
export function withoutKeywords(description: string): string {
  return description.replace(/\s*[(（]([^()（）]*)[)）]\s*$/, (bracket, inside: string) =>
    isKeywords(inside) ? '' : bracket,
  );
}

/** Several short words and no sentence, not all of them in the script of the description. */
function isKeywords(text: string): boolean {
  const words = text.split(/[,，、]/).map((word) => word.trim());
  return (
    words.length > 1 &&
    words.every((word) => word && word.length <= 20 && !/[.:;!?。：；]/.test(word)) &&
    /\p{Script=Han}/u.test(text)
  );
}
