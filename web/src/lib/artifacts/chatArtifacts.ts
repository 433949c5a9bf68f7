// The artifacts in the answers of a chat. Loaded with the panel: it reads Markdown.
import { Lexer, type Token } from 'marked';
import { answerPieces } from '$lib/chat/answer';
import type { Turn } from '$lib/chat/chat';
import { dialect } from '$lib/markdown/dialect';
import { fenceInfo } from '$lib/markdown/fence';
import { artifactSource, type ArtifactSource } from './artifact';

/** A turn that is over never changes, and a new value stands for one that has changed. */
const cache = new WeakMap<Turn, readonly ArtifactSource[]>();

/** In the order they were written. */
export function chatArtifacts(turns: readonly Turn[]): ArtifactSource[] {
  return turns.flatMap((turn) => {
    let sources = cache.get(turn);
    if (!sources) {
      sources = answerPieces(turn).flatMap((piece) =>
        piece.kind === 'text' ? textArtifacts(piece.text, piece.writing) : [],
      );
      cache.set(turn, sources);
    }
    return sources;
  });
}

/** Code that is still being written is no version yet. */
function textArtifacts(text: string, writing: boolean): ArtifactSource[] {
  // Most answers have none, and are not read for it.
  if (!/```|~~~/.test(text) || !/<(?:svg|!doctype|html|[a-z])/i.test(text)) return [];
  const found: ArtifactSource[] = [];
  collect(new Lexer(dialect).blockTokens(text.replace(/\r\n?/g, '\n'), []));
  return found;

  function collect(tokens: readonly Token[]) {
    for (const token of tokens) {
      if (token.type === 'code' && (!writing || isClosed(token.raw))) {
        const source = artifactSource({ ...fenceInfo(token.lang), text: token.text });
        if (source) found.push(source);
      }
      if ('items' in token && Array.isArray(token.items)) collect(token.items as Token[]);
      else if ('tokens' in token && token.tokens) collect(token.tokens);
    }
  }
}

function isClosed(raw: string): boolean {
  return /\n {0,3}(?:`{3,}|~{3,})\s*$/.test(raw);
}
