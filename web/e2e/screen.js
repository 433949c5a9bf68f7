// What a person finds on the page, by the names they see.
export function screen(page) {
  return {
    field: page.getByRole('textbox', { name: 'Ask anything' }),
    sendButton: page.getByRole('button', { name: 'Send' }),
    stopButton: page.getByRole('button', { name: 'Stop' }),
    cards: page.locator('.card'),
    answers: page.locator('.answer'),
    questions: page.locator('.question'),
    rows: page.getByRole('navigation', { name: 'Chats' }).getByRole('listitem'),
    /** A message that is being written anew. */
    editor: page.getByRole('textbox', { name: 'Edit message' }),
    search: page.getByRole('searchbox', { name: 'Search chats' }),
    jump: page.getByRole('button', { name: 'Jump to latest' }),

    async ask(text) {
      await this.field.fill(text);
      await this.field.press('Enter');
    },

    /** What the menu of the open chat offers. */
    async menu(name) {
      await page
        .locator('header')
        .getByRole('button', { name: /^Options/ })
        .click();
      await page.getByRole('menuitem', { name }).click();
    },

    /** The turn is over when there is nothing left to stop and the question stands. */
    async answered(count = 1) {
      await page
        .locator('article')
        .nth(count - 1)
        .waitFor();
      await this.stopButton.waitFor({ state: 'detached' });
    },

    /** The words on the page that must not change by a reload; the time of day may. */
    conversation() {
      return page.locator('.column').innerText();
    },
  };
}

/** The way to all tools, behind the plus: pressed like a button. */
export function allTools(page) {
  const way = [
    page.getByRole('button', { name: 'Add', exact: true }),
    page.getByRole('menuitem', { name: 'All tools' }),
  ];
  return {
    async click() {
      for (const step of way) await step.click();
    },
    async tap() {
      for (const step of way) await step.tap();
    },
  };
}

/** Where the page is. The browser tells the driver later than the page knows it. */
export function address(page) {
  return page.evaluate(() => location.href);
}

/** Waits for something that has no event to wait for. */
export async function eventually(what, check, deadlineMs = 10_000) {
  const end = Date.now() + deadlineMs;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
