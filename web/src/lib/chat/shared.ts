// A chat that somebody shows to others, as turns that the page can draw.
import type { CallRecord, ExportedMessage, ExportedTurn, SharedChat } from '$lib/api/types';
import type { Call, Turn } from './chat';
import { isShownPage } from './htmlPage';
import { attachedFiles, shownImages, writtenText } from './reduce';

export function sharedTurns({ turns }: SharedChat): Turn[] {
  return turns.map(sharedTurn);
}

function sharedTurn(turn: ExportedTurn): Turn {
  const asked = turn.messages.filter(({ role }) => role === 'user');
  const said = turn.messages.filter(({ role }) => role === 'assistant');
  return {
    id: turn.id,
    parent: turn.parent,
    text: asked.map((message) => writtenText(message)).join('\n'),
    images: shownImages({ parts: asked.flatMap(({ parts }) => parts) }),
    files: attachedFiles({ parts: asked.flatMap(({ parts }) => parts) }),
    startedAt: asked[0]?.createdAt ?? 0,
    model: turn.model,
    messages: said.map(({ id, parts, createdAt }) => ({
      id,
      parts,
      startedAt: createdAt,
      finishedAt: createdAt,
    })),
    calls: Object.fromEntries(said.flatMap(sharedCalls).map((call) => [call.id, call])),
    // A running turn is shown as it was when the chat was shared.
    outcome: turn.outcome ?? { kind: 'done' },
    usage: turn.usage,
    cost: turn.cost,
  };
}

function sharedCalls({ toolCalls }: ExportedMessage): Call[] {
  return toolCalls.map(({ verdict: _, ...call }: CallRecord) => ({
    ...call,
    // Why it was refused was said to the model, and is nothing that went wrong.
    verdict: call.error?.kind === 'denied' ? 'denied' : undefined,
    asked: false,
    // What lies on the shelf is open to its owner alone. Of a page that was shown that is said.
    output: call.output && {
      content: call.output.content.filter(
        (content) => content.type !== 'blob' || isShownPage(content),
      ),
    },
  }));
}
