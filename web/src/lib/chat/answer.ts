// The answer to one question as it is read: the messages of a turn joined into
// one row of pieces, in the order the model produced them.
import type { Call, Message, Turn } from './chat';

export type Piece =
  | { key: string; kind: 'text'; text: string; writing: boolean }
  | { key: string; kind: 'thought'; text: string; writing: boolean; durationMs?: number }
  | { key: string; kind: 'preparing'; displayName: string }
  | { key: string; kind: 'call'; call: Call };

export function answerPieces(turn: Turn): Piece[] {
  return turn.messages.flatMap((message) => {
    const pieces: Piece[] = [];
    message.parts.forEach((part, index) => {
      const piece = messagePiece(turn, message, index);
      const last = pieces.at(-1);
      // Texts that follow on each other are one, which its provider cut to hang citations on.
      const follows = part.type === 'text' && message.parts[index - 1]?.type === 'text';
      if (piece?.kind === 'text' && last?.kind === 'text' && follows) {
        pieces[pieces.length - 1] = { ...piece, key: last.key, text: last.text + piece.text };
      } else if (piece) pieces.push(piece);
    });
    return pieces;
  });
}

/** The words of an answer, as someone would want them on the clipboard. */
export function answerText(turn: Turn): string {
  return answerPieces(turn)
    .filter((piece) => piece.kind === 'text')
    .map((piece) => piece.text.trim())
    .join('\n\n');
}

function messagePiece(turn: Turn, message: Message, index: number): Piece | undefined {
  const part = message.parts[index];
  if (!part) return undefined;
  // The place, not the content, is the identity: a draft becomes its call without a new card.
  const key = `${message.id}/${index}`;
  const writing = message.finishedAt === undefined && index === message.parts.length - 1;
  switch (part.type) {
    case 'text':
      return part.text.trim() ? { key, kind: 'text', text: part.text, writing } : undefined;
    case 'thinking':
      return part.text.trim()
        ? { key, kind: 'thought', text: part.text, writing, durationMs: share(message, index) }
        : undefined;
    case 'draft':
      return { key, kind: 'preparing', displayName: part.displayName };
    case 'call': {
      const call = turn.calls[part.id];
      return call && { key, kind: 'call', call };
    }
    case 'image':
    case 'file':
      // Only a person shows one, and it stands with what they wrote.
      return undefined;
    case 'opaque':
      // What a provider wants back with the next request; nothing to read.
      return undefined;
  }
}

/**
 * How long one part took. Only the whole message is timed; models write at an
 * even pace, so a part gets its share by length. This way the figure is the
 * same while it is live and after a reload.
 */
function share(message: Message, index: number): number | undefined {
  if (message.finishedAt === undefined) return undefined;
  const lengths = message.parts.map((part) => {
    if (part.type === 'call') return JSON.stringify(part.input ?? '').length;
    return 'text' in part ? part.text.length : 0;
  });
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return ((message.finishedAt - message.startedAt) * (lengths[index] ?? 0)) / Math.max(total, 1);
}
