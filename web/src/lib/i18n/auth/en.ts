// The log-in pages and account errors. Loaded on demand.

export const authEn = {
  logIn: 'Log in',
  loggingIn: 'Logging in…',

  email: 'E-mail',
  password: 'Password',
  showPassword: 'Show the password',
  hidePassword: 'Hide the password',
  yourName: 'Your name',
  passwordRule: 'At least 8 characters.',
  entryProblems: {
    missing: 'Fill this in.',
    notEmail: 'This is not an e-mail address, such as you@example.com.',
    shortPassword: 'Too short: at least 8 characters.',
  },

  createAdmin: 'Create the admin account',
  createAdminHelp: 'This Tenon is new. Its first account can invite others and connect models.',
  setupCode: 'Set-up code',
  setupCodeHint:
    'Part of the link that Tenon printed when it started. Run `tenon link` to print it again.',
  openTenon: 'Open Tenon',
  openTenonHelp:
    'Run `tenon link` where Tenon runs, then open the link it prints or paste it here.',
  open: 'Open',
  opening: 'Opening…',
  createAccount: 'Create an account',
  creatingAccount: 'Creating…',
  haveAccount: 'I have an account',
  logInWith: (issuer: string) => `Log in with ${issuer}`,

  invited: 'You are invited to this Tenon.',
  invitedAs: (email: string) => `The invitation is for ${email}.`,
  inviteOver: 'This invitation is no longer valid.',
  inviteOverHelp: 'It has expired, or was used or revoked. Ask for a new one.',
  toLogIn: 'Go to log-in',
  alreadyIn: (name: string) =>
    `You are logged in as ${name}. Log out to use this invitation for another account.`,
  toChats: 'Go to your chats',

  loggedOut: 'You were logged out. Log in again to continue where you left off.',
  wrongLogIn: 'The e-mail address or the password is wrong, or the account is disabled.',
  tooMany: (wait: string) => `Too many attempts. Try again in ${wait}.`,
  tooManyNow: 'Too many attempts. Try again later.',
  seconds: (count: number) => (count === 1 ? '1 second' : `${count} seconds`),
  minutes: (count: number) => (count === 1 ? '1 minute' : `${count} minutes`),
  silentTryingAgain: 'Tenon does not answer. Trying again…',
  /** What a log-in elsewhere said, by its code. */
  issuerSays: {
    oidc_off: 'This way of logging in is not set up here. Log in with your password.',
    oidc_too_many: 'Too many log-ins failed from your address. Try again later.',
    oidc_unreachable:
      'The log-in service does not answer. Try again later, or log in with your password.',
    oidc_denied: 'The log-in service refused. Try again, or ask its admin.',
    oidc_expired: 'This log-in took too long, or was started in another browser. Try again.',
    oidc_untrusted:
      'The response of the log-in service could not be verified. Ask an admin to check the log.',
    oidc_email: 'The log-in service has not verified your e-mail address. Confirm it there first.',
    oidc_domain: 'E-mail addresses like yours are not allowed here. Ask an admin.',
    oidc_no_account: 'There is no account for your address here. Ask an admin to invite you.',
    oidc_disabled: 'Your account is disabled. Ask an admin.',
    oidc_storage: 'Tenon could not finish the log-in. Try again.',
  } as Record<string, string>,
  issuerFailed: 'The log-in did not work. Try again, or ask an admin.',
};

export type AuthMessages = typeof authEn;
