// A chat with what no honest server sends: only the wire is forged.

/** The events of a turn that makes one call. What becomes of it: `output`, or `error`, or a `form`
    that is shown, or `asked`, where it waits for a person. */
export function conversation({
  displayName = 'api/list',
  toolId = 'api_list',
  input = {},
  question = 'List',
  text,
  output,
  error,
  form,
  asked,
}) {
  const message = (id, role, parts) => ({ id, turnId: 't', role, parts, createdAt: 0 });
  const call = { id: 'c', toolId, input };
  const said = text === undefined ? [] : [{ type: 'text', text }];
  const record = { ...call, messageId: 'a', displayName, status: 'pending', runsOn: 'server' };
  const begun = [
    {
      type: 'turnStarted',
      turnId: 't',
      message: message('q', 'user', [{ type: 'text', text: question }]),
    },
    { type: 'messageStarted', message: message('a', 'assistant', []) },
    { type: 'messageFinished', messageId: 'a', parts: [...said, { type: 'call', ...call }] },
    { type: 'callRequested', call: { ...record, asked: false } },
  ];
  if (asked) return [...begun, { type: 'callAsked', callId: 'c' }];
  begun.push({ type: 'callStarted', callId: 'c' });
  if (form) return [...begun, { type: 'formShown', callId: 'c', form }];
  const end = error
    ? { status: 'failed', error }
    : { status: 'done', output: { content: [output].flat() } };
  return [
    ...begun,
    { type: 'callFinished', callId: 'c', ...end, durationMs: 5 },
    {
      type: 'turnFinished',
      turnId: 't',
      outcome: { kind: 'done' },
      usage: { inputTokens: 0, outputTokens: 0 },
    },
  ];
}

/** From here on this page is told of forged chats alone. The result opens one of these events. */
export async function showConversation(page) {
  let shown = [];
  let count = 0;
  await page.routeWebSocket('**/api/ws', (socket) => {
    socket.onMessage((text) => {
      const { type, chatId } = JSON.parse(text);
      if (type !== 'subscribe') return;
      shown.forEach((body, at) => {
        const ofChat = Object.fromEntries(
          Object.entries(body).map(([name, value]) => [
            name,
            name === 'message' ? { ...value, chatId } : value,
          ]),
        );
        socket.send(JSON.stringify({ type: 'event', chatId, seq: at + 1, at, body: ofChat }));
      });
      socket.send(JSON.stringify({ type: 'caughtUp', chatId, seq: shown.length }));
    });
  });
  return async (url, bodies) => {
    shown = bodies;
    await page.goto(`${url}/#/c/forged-${++count}`);
    // The socket that is open was not forged.
    if (count === 1) await page.reload();
  };
}
