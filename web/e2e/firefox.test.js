// The main story in Firefox: log in, chat, a tool, a tool on this computer, a question.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCounter } from './counter.js';
import { Firefox, withoutFirefox } from './firefox.js';
import { toolsAt } from './local.js';
import { ann, setUp } from './people.js';
import { startScriptedModel } from './scriptedModel.js';
import { Tenon, withAccounts } from './tenon.js';

const deadline = { timeout: 60_000, skip: withoutFirefox };

let [tenon, firefox, counter, model, cookie] = [];

async function tell(method, path, body) {
  const response = await fetch(`${tenon.url}/api${path}`, {
    method,
    headers: { ...cookie, 'content-type': 'application/json', origin: tenon.url },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

before(async () => {
  if (withoutFirefox) return;
  [tenon, firefox, counter] = await Promise.all([
    Tenon.start(withAccounts),
    Firefox.start(),
    startCounter(),
  ]);
  cookie = await setUp(tenon);
  model = await startScriptedModel({ tell });
});

after(async () => {
  await firefox?.stop();
  await tenon?.stop();
  counter?.stop();
  model?.stop();
});

test('somebody logs in, chats, uses tools of both kinds and is asked', deadline, async () => {
  const field = 'main textarea';
  const cards = (status) => `document.querySelectorAll('.card[data-status=${status}]').length`;
  const ask = async (words) => {
    await firefox.type(field, words);
    await firefox.press('Enter');
  };

  await firefox.go(tenon.url);
  await firefox.type('input[type=email]', ann.email);
  await firefox.type('input[type=password]', ann.password);
  await firefox.press('Enter');
  await firefox.until(`document.querySelector('${field}')`);

  // A built-in tool, and an answer.
  await ask('Call builtin_calculate {"expression": "(17+4)*23"}');
  await firefox.until(`${cards('done')} === 1`);
  await firefox.until(`document.querySelector('.answer').innerText.includes('Hello from')`);

  // A tool on this computer: the browser is told where to look, finds it and calls it.
  await firefox.evaluate(`location.hash = '#/settings/local'`);
  await firefox.click('dialog button', 'Add an address');
  await firefox.until(`document.querySelector('dialog form input')`);
  await firefox.type('dialog form input', counter.url);
  await firefox.press('Enter');
  const { count } = await toolsAt(counter.url, tell, 'count');
  await firefox.press('Escape');
  await firefox.until(`!document.querySelector('dialog')`);
  const tools = [{ toolId: count.toolId, policy: 'ask' }];
  await tell('PATCH', '/tools', { layer: 'user', tools });
  await ask(`Call ${count.toolId} {"number": 7}`);
  await firefox.until(`${cards('asking')} === 1`);
  assert.equal(counter.counted.get(7), undefined, 'nothing runs before it is allowed');
  await firefox.click('.card button', 'Allow once');
  await firefox.until(`${cards('done')} === 2`);
  assert.equal(counter.counted.get(7), 1);

  // All of it is there after a reload.
  await firefox.reload();
  await firefox.until(`${cards('done')} === 2`);
  assert.deepEqual(firefox.complaints, []);
});
