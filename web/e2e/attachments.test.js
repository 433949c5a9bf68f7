// Files in messages: attached, pasted, dropped, sent, edited, kept and shared.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findings } from './axe.js';
import { desktop, openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let provider;

after(() => provider?.stop());

/** A visit, with a model that answers. */
async function visit(t, options) {
  provider ??= await startScriptedModel(suite);
  return suite.visit(t, options);
}

/** One red pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);
const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The cat is Ada.') };
const picture = { name: 'red.png', mimeType: 'image/png', buffer: pixel };

/** A PDF of one page with this line. */
function pdf(line) {
  const content = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer);
}

/** What the model was asked last, as one text. Titles are made without tools. */
const lastAsked = () => JSON.stringify(provider.asked.findLast(({ tools }) => tools)?.messages);

function filesOn(page) {
  const form = page.locator('.foot form');
  return {
    form,
    chips: form.getByRole('list', { name: 'Attachments' }).getByRole('listitem'),
    sent: page.locator('.question').getByRole('list', { name: 'Attachments' }),
    async attach(...files) {
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('menuitem', { name: 'Attach files…' }).click(),
      ]);
      await chooser.setFiles(files);
    },
    /** All of them are on the server. */
    uploaded: () => form.locator('progress').first().waitFor({ state: 'detached' }),
    /** As another program would put it on the clipboard, or drag it here. */
    async hand(event, { name, mimeType, buffer }) {
      const target = event === 'paste' ? form.locator('textarea') : page.locator('main');
      const data = await page.evaluateHandle(
        ([name, type, bytes]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
          return transfer;
        },
        [name, mimeType, [...buffer]],
      );
      if (event === 'paste') {
        await target.evaluate((field, data) => {
          const paste = new ClipboardEvent('paste', {
            clipboardData: data,
            bubbles: true,
            cancelable: true,
          });
          field.dispatchEvent(paste);
        }, data);
      } else {
        await target.dispatchEvent('dragover', { dataTransfer: data });
        await page.getByText('Drop files to attach them').waitFor();
        await target.dispatchEvent('drop', { dataTransfer: data });
      }
    },
  };
}

test('a file and a picture go to the model with the message', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  await files.attach(notes, picture);
  await files.uploaded();
  assert.equal(await files.chips.count(), 2);
  await ui.ask('What is my cat called?');
  await ui.answered();
  assert.match(lastAsked(), /The cat is Ada\./);
  assert.match(lastAsked(), /image_url/);
  await files.sent.getByRole('link', { name: 'Download notes.txt' }).waitFor();
  assert.equal(await files.chips.count(), 0);

  // The picture opens large, and Esc closes it and nothing else.
  await files.sent.getByRole('button', { name: 'Open red.png' }).click();
  const viewer = page.getByRole('dialog', { name: 'red.png' });
  await viewer.getByRole('img', { name: 'red.png' }).waitFor();
  const drawn = viewer.getByRole('img', { name: 'red.png' });
  await eventually('it is drawn', () => drawn.evaluate((image) => image.naturalWidth === 1));
  await page.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });

  await page.reload();
  await files.sent.getByRole('link', { name: 'Download notes.txt' }).waitFor();
});

test('files are pasted and dropped, and stay with the draft over a reload', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  await ui.field.fill('About these');
  await files.hand('paste', picture);
  await files.hand('drop', notes);
  await files.uploaded();
  await files.chips.nth(1).waitFor();
  await page.reload();
  await files.chips.nth(1).waitFor();
  assert.equal(await ui.field.inputValue(), 'About these');
  await page.getByRole('button', { name: 'Remove red.png' }).click();
  assert.equal(await files.chips.count(), 1);
  // A message may be nothing but a file.
  await ui.field.fill('');
  await ui.sendButton.click();
  await ui.answered();
  await files.sent.getByRole('link', { name: 'Download notes.txt' }).waitFor();
  assert.match(lastAsked(), /The cat is Ada\./);
});

test('an edited message keeps its files, loses one and gets another', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  await files.attach(notes, picture);
  await files.uploaded();
  await ui.ask('First');
  await ui.answered();
  await ui.questions.first().hover();
  await page.getByRole('button', { name: 'Edit message' }).click();
  const editor = page.locator('article form');
  await editor.getByRole('button', { name: 'Remove red.png' }).click();
  await editor.getByRole('button', { name: 'Add', exact: true }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Attach files…' }).click(),
  ]);
  await chooser.setFiles({
    name: 'more.md',
    mimeType: 'text/markdown',
    buffer: Buffer.from('# More about Ada'),
  });
  await editor.getByRole('listitem').filter({ hasText: 'more.md' }).waitFor();
  await editor.locator('progress').waitFor({ state: 'detached' });
  await ui.editor.fill('Second');
  await ui.editor.press('Enter');
  await page.getByText('Second').waitFor();
  await ui.answered();
  assert.match(lastAsked(), /The cat is Ada\..*More about Ada|More about Ada.*The cat is Ada\./s);
  assert.doesNotMatch(lastAsked(), /image_url/);
  // Answered again, it still has them.
  await page.locator('.answer').hover();
  await page.getByRole('button', { name: 'Answer again', exact: true }).click();
  await eventually(
    'it was asked again',
    () =>
      provider.asked.filter(({ tools }) => tools).length > 0 && /More about Ada/.test(lastAsked()),
  );
});

test(
  'what cannot be attached is refused at its chip, before anything is sent',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    const files = filesOn(page);
    await files.attach(
      { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
      { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 nothing') },
    );
    await ui.field.fill('Read these');
    const alerts = files.form.getByRole('alert');
    await eventually('both are refused', async () => (await alerts.count()) === 2);
    assert.ok(await ui.sendButton.isDisabled());
    await page.getByRole('button', { name: 'Remove empty.txt' }).click();
    await page.getByRole('button', { name: 'Remove broken.pdf' }).click();
    await eventually('it can be sent', () => ui.sendButton.isEnabled());
  },
);

test('a picture is not sent to a model that sees none', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  const models = page.getByRole('listbox', { name: 'Models' });
  await page.getByRole('button', { name: /^Model: / }).click();
  await models.getByRole('option', { name: 'Built-in assistant' }).click();
  await files.attach(picture);
  await files.uploaded();
  const notice = page.getByText('Built-in assistant cannot see images.');
  await notice.waitFor();
  const sent = [];
  page.on('request', (request) => request.url().endsWith('/turns') && sent.push(request));
  await ui.ask('What is it?');
  assert.ok(await ui.sendButton.isDisabled());
  assert.deepEqual([sent.length, await ui.field.inputValue()], [0, 'What is it?']);

  // One that may see it is a click away.
  await page.getByRole('button', { name: 'Choose another model' }).click();
  await models.getByRole('option', { name: 'fake-small' }).click();
  await notice.waitFor({ state: 'detached' });
  await ui.sendButton.click();
  await ui.answered();
  assert.match(lastAsked(), /image_url/);
});

test('a phone offers its camera', deadline, async (t) => {
  const { page } = await visit(t, { viewport: phone, hasTouch: true, isMobile: true });
  const files = filesOn(page);
  await page.getByRole('button', { name: 'Add', exact: true }).tap();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Take a photo…' }).tap(),
  ]);
  const field = chooser.element();
  assert.equal(await field.getAttribute('capture'), 'environment');
  assert.equal(await field.getAttribute('accept'), 'image/*');
  await chooser.setFiles({ ...picture, name: 'photo.png' });
  await files.uploaded();
  await page.getByRole('button', { name: 'Remove photo.png' }).waitFor();
});

test('the text of a PDF goes to the model', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  const buffer = pdf('The launch is in May.');
  await files.attach({ name: 'plan.pdf', mimeType: 'application/pdf', buffer });
  await files.uploaded();
  await files.chips.getByText('plan.pdf').waitFor();
  await ui.ask('When is the launch?');
  await ui.answered();
  assert.match(lastAsked(), /The launch is in May\./);
  await files.sent.getByRole('link', { name: 'Download plan.pdf' }).waitFor();
});

test('a file name is text, whatever it looks like', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  const name = '<img src=x onerror=alert(1)>.txt';
  await files.attach({ ...notes, name });
  await files.uploaded();
  await files.chips.getByText(/img src=x/).waitFor();
  await ui.ask('Hello');
  await ui.answered();
  await files.sent.getByText(/img src=x/).waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);
});

test('long text that is pasted can become a file', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  const text = 'All work and no play. '.repeat(300);
  await ui.field.fill('Sum up: ');
  await ui.field.press('End');
  await ui.field.evaluate((field, text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    const paste = new ClipboardEvent('paste', {
      clipboardData: data,
      bubbles: true,
      cancelable: true,
    });
    // A page cannot make the browser paste, so it does what the browser would.
    if (field.dispatchEvent(paste)) {
      field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }, text);
  await page.getByRole('button', { name: 'Attach as a file' }).click();
  await files.uploaded();
  await files.chips.getByText('pasted-text.txt').waitFor();
  assert.equal(await ui.field.inputValue(), 'Sum up: ');
  await ui.sendButton.click();
  await ui.answered();
  assert.match(lastAsked(), /All work and no play/);
});

test('a shared chat shows its files only where its owner says so', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const files = filesOn(page);
  await files.attach(picture);
  await files.uploaded();
  await ui.ask('Look at this');
  await ui.answered();
  await ui.menu('Share…');
  const dialog = page.getByRole('dialog', { name: 'Share this chat' });
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.getByRole('textbox', { name: 'Link' }).inputValue();
  const reader = await openPage(suite.browser, link);
  t.after(() => reader.context.close());
  await reader.page.getByText('Look at this').waitFor();
  assert.equal(await reader.page.getByRole('button', { name: 'Open red.png' }).count(), 0);

  await dialog.getByRole('switch', { name: 'Include attachments' }).click();
  await dialog.getByText('Readers can open the files').waitFor();
  await reader.page.goto(await dialog.getByRole('textbox', { name: 'Link' }).inputValue());
  await reader.page.reload();
  const image = reader.page.getByRole('button', { name: 'Open red.png' }).locator('img');
  await eventually('it is drawn', () => image.evaluate((image) => image.naturalWidth === 1));
});

test('attachments are accessible in both widths and schemes', deadline, async (t) => {
  for (const [viewport, colorScheme] of [
    [desktop, 'light'],
    [phone, 'dark'],
  ]) {
    const { page, ui } = await visit(t, { viewport, colorScheme });
    const files = filesOn(page);
    await files.attach(notes, picture, { ...notes, name: 'empty', buffer: Buffer.alloc(0) });
    await files.uploaded();
    const where = `files at ${viewport.width}, ${colorScheme}`;
    assert.deepEqual(await findings(page, where), []);
    await page.getByRole('button', { name: 'Remove empty' }).click();
    await ui.ask('Hello');
    await ui.answered();
    assert.deepEqual(await findings(page, `sent ${where}`), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= viewport.width, where);
  }
});
