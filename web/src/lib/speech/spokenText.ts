// An answer as it is read aloud: without code, markup and addresses, in pieces that a speech engine
// takes. Some engines fall silent in the middle of a long text.

/** About ten seconds of speech. */
const MAX_PIECE_LENGTH = 180;

/** What is said of an answer in Markdown. */
export function spokenText(markdown: string): string {
  return (
    markdown
      // Code, drawn things and formulas are looked at, not listened to.
      .replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm, '\n')
      .replace(/\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]/g, '\n')
      // The line that divides the head of a table from its body.
      .replace(/^[ \t]*\|?[ \t:|-]*-{3,}[ \t:|-]*$/gm, '')
      .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/\[\^[^\]]*\]/g, '')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/<?https?:\/\/[^\s>)]+>?/g, '')
      .replace(/<\/?[a-z][^>]*>/gi, '')
      .replace(/^[ \t]*(?:#{1,6}[ \t]+|>+[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d+[.)][ \t]+)/gm, '')
      .replace(/\|/g, ', ')
      .replace(/`([^`\n]*)`/g, '$1')
      .replace(/(\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/g, '$2')
      .replace(/(^|[^\w*])[*_](?=\S)([^*_\n]*\S)[*_](?!\w)/g, '$1$2')
      .replace(/[ \t]+/g, ' ')
      .replace(/ *\n\s*/g, '\n')
      .trim()
  );
}

/** Sentences, joined up to a length that every engine takes. */
export function speechPieces(text: string): string[] {
  const sentences = text.match(/[^\n.!?。！？]+(?:[.!?。！？]+["'”’」』)）]*|\n|$)|[.!?。！？]+/gu) ?? [];
  const pieces: string[] = [];
  for (const sentence of sentences.flatMap(cut)) {
    const last = pieces.at(-1);
    // Another language is another voice.
    if (last && last.length + sentence.length <= MAX_PIECE_LENGTH && sameScript(last, sentence)) {
      pieces[pieces.length - 1] = last + sentence;
    } else pieces.push(sentence);
  }
  return pieces.map((piece) => piece.trim()).filter(Boolean);
}

/** The language of a piece, as voices are tagged: told by its script, else that of the page. */
export function languageOf(text: string, page: string): string {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  if (/\p{Script=Hangul}/u.test(text)) return 'ko';
  if (/\p{Script=Han}/u.test(text)) return page.startsWith('zh') ? chinese(page) : 'zh-CN';
  if (/\p{Script=Cyrillic}/u.test(text)) return 'ru';
  if (/\p{Script=Latin}/u.test(text)) return page.startsWith('zh') ? 'en-US' : page;
  return page.startsWith('zh') ? chinese(page) : page;
}

/** The voice for a language: of that region, else of any. */
export function voiceFor<Voice extends { lang: string; default: boolean }>(
  voices: readonly Voice[],
  tag: string,
): Voice | undefined {
  const plain = (lang: string) => lang.replace('_', '-').toLowerCase();
  const wanted = plain(tag);
  const [base = ''] = wanted.split('-');
  const same = voices.filter(({ lang }) => plain(lang) === wanted);
  const near = voices.filter(({ lang }) => plain(lang).split('-')[0] === base);
  return same.find((voice) => voice.default) ?? same[0] ?? near.find((voice) => voice.default) ?? near[0];
}

function chinese(page: string): string {
  return page === 'zh-Hant' ? 'zh-TW' : 'zh-CN';
}

function sameScript(a: string, b: string): boolean {
  const isHan = (text: string) => /\p{Script=Han}/u.test(text);
  return isHan(a) === isHan(b);
}

/** A sentence without an end is cut where it can be: after a comma or a space, else anywhere. */
function cut(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > MAX_PIECE_LENGTH) {
    const head = rest.slice(0, MAX_PIECE_LENGTH);
    const place = Math.max(...[',', '，', '、', ';', '；', ' '].map((mark) => head.lastIndexOf(mark)));
    const end = place > MAX_PIECE_LENGTH / 2 ? place + 1 : MAX_PIECE_LENGTH;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
