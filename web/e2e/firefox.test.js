// The main story in Firefox: log in, chat, a tool, a file, a tool on this computer, a question.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCounter } from './counter.js';
import { Firefox, withoutFirefox } from './firefox.js';
import { toolsAt } from './local.js';
import { ann, setUp } from './people.js';
import { eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';
import { Tenon, withAccounts } from './tenon.js';

const deadline = { timeout: 60_000, skip: withoutFirefox };

let [tenon, firefox, counter, model, cookie, folder] = [];

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
  // One after the other, so that what was started is ended whatever the next one does.
  tenon = await Tenon.start(withAccounts);
  firefox = await Firefox.start();
  counter = await startCounter();
  cookie = await setUp(tenon);
  model = await startScriptedModel({ tell });
  folder = await mkdtemp(join(tmpdir(), 'tenon-attach-'));
});

after(async () => {
  await firefox?.stop();
  await tenon?.stop();
  counter?.stop();
  model?.stop();
  if (folder) await rm(folder, { recursive: true });
});

test('somebody logs in, chats, attaches a file, uses tools and is asked', deadline, async () => {
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

  // A file goes to the model with the message.
  const notes = join(folder, 'notes.txt');
  await writeFile(notes, 'The cat is called Ada.');
  await firefox.attach('main form input[type=file]', notes);
  const form = (selector) => `document.querySelector('main form ${selector}')`;
  await firefox.until(`${form('a[download]')} && !${form('progress')}`);
  await ask('What is my cat called?');
  await firefox.until(`document.querySelector('.question a[download="notes.txt"]')`);
  await eventually('the model reads the file', async () => {
    const asked = model.asked.findLast(({ tools }) => tools);
    return JSON.stringify(asked.messages.at(-1)).includes('The cat is called Ada.');
  });
  await firefox.until(`!document.querySelector('.stop')`);

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
  await firefox.until(`document.querySelector('.question a[download="notes.txt"]')`);
  assert.deepEqual(firefox.complaints, []);
});
