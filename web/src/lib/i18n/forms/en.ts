// What is said in a form that a tool shows. Loaded on demand.

export const formsEn = {
  fromTool: 'The tool asks for this. Your answer is sent to the tool.',
  submit: 'Submit',
  decline: 'Decline',
  cancel: 'Cancel',
  declineHint: 'Tells the tool that you declined to answer.',
  cancelHint: 'Tells the tool that you closed the form.',
  sending: 'Sending…',
  required: (label: string) => `${label} (required)`,
  nothingToFill: 'There is nothing to fill in.',
  choose: 'Choose…',
  noChoice: 'No choice',
  visitHelp: 'Tenon does not see what you do there. Check the address before you open it.',
  visit: 'Open in a new tab',
  visited: 'Done',
  notVisitable: 'This address cannot be opened.',
  notAnswered: (why: string) => `Your answer did not arrive: ${why}`,
  problems: {
    missing: 'Fill this in.',
    notNumber: 'A number, such as 1.5.',
    notWhole: 'A whole number.',
    notEmail: 'An e-mail address.',
    notUri: 'A full address, such as https://example.com.',
  },
  limits: {
    atLeast: (limit: number) => `At least ${limit}.`,
    atMost: (limit: number) => `At most ${limit}.`,
    tooShort: (limit: number) => `At least ${limit} characters.`,
    tooLong: (limit: number) => `At most ${limit} characters.`,
    tooFew: (limit: number) => `Choose at least ${limit}.`,
    tooMany: (limit: number) => `Choose at most ${limit}.`,
  },
};

export type FormsMessages = typeof formsEn;
