// What a person finds among the tool servers, by the names they see.
export function serversOf(page) {
  const settings = page.getByRole('dialog', { name: 'Settings' });
  return {
    settings,
    add: settings.getByRole('button', { name: 'Add a server' }),
    paste: settings.getByRole('button', { name: 'Paste a configuration' }),
    form: settings.getByRole('form', { name: /^(Add a server|Change)/ }),
    importForm: settings.getByRole('form', { name: 'Paste a configuration' }),
    row: (title) =>
      settings
        .getByRole('listitem')
        // The mark of one that is theirs alone stands in its heading.
        .filter({
          has: page.getByRole('heading', { name: new RegExp(`^${title}( only yours)?$`) }),
        }),

    async open() {
      await page.evaluate(() => (location.hash = '#/settings/servers'));
      await this.add.waitFor();
    },

    /** A program, with its arguments in a row. */
    async addProgram(name, command, ...args) {
      await this.add.click();
      await this.form.getByLabel('Command').fill(command);
      await this.form.getByLabel('Arguments').fill(args.join('\n'));
      await this.form.getByLabel('Name', { exact: true }).fill(name);
      await this.form.getByRole('button', { name: 'Add', exact: true }).click();
    },

    /** The form for an OpenAPI server, with its address filled in. */
    async addOpenapi(url) {
      await this.add.click();
      await this.form.getByRole('radio', { name: 'OpenAPI', exact: true }).check();
      if (url) await this.form.getByLabel('Address of the server').fill(url);
    },

    async choose(title, item) {
      await this.row(title)
        .getByRole('button', { name: `Options for ${title}` })
        .click();
      await page.getByRole('menuitem', { name: item }).click();
    },
  };
}
