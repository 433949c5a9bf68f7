// About how high turns will be, for the space that is kept for those that are not laid out.
import { answerText } from '$lib/chat/answer';
import type { Turn } from '$lib/chat/chat';

const LINE_PX = 26;
const LINE_CHARS = 90;
/** The space between two blocks, in lines. */
const EMPTY_LINE = 0.5;
/** The question, what stands below the answer, and the space between two turns. */
const AROUND_PX = 150;

/** What there is to read in a turn, as it was written. */
export function turnText(turn: Turn): string {
  return `${turn.text}\n${answerText(turn)}`;
}

export function expectedHeight(text: string, turnCount = 1): number {
  return AROUND_PX * turnCount + textHeight(text);
}

/** Of a text in Markdown, or of one of its blocks. */
export function textHeight(text: string): number {
  let lines = 0;
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const length = (end < 0 ? text.length : end) - start;
    lines += length === 0 ? EMPTY_LINE : Math.ceil(length / LINE_CHARS);
    start += length + 1;
  }
  return Math.round(lines * LINE_PX);
}
