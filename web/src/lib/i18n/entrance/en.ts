// What is said at the door, and about accounts. It is loaded by whoever needs it.

export const entranceEn = {
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
    'It is in the link that Tenon printed where it was started; `tenon link` prints that again.',
  openTenon: 'Open Tenon',
  openTenonHelp:
    'Run `tenon link` where Tenon runs, or look at what `tenon serve` printed there, and open its link or paste it here.',
  open: 'Open',
  opening: 'Opening…',
  createAccount: 'Create an account',
  creatingAccount: 'Creating…',
  haveAccount: 'I have an account',
  logInWith: (issuer: string) => `Log in with ${issuer}`,

  invited: 'You are invited to this Tenon.',
  invitedAs: (email: string) => `The invitation is for ${email}.`,
  inviteOver: 'This invitation is not valid any more.',
  inviteOverHelp: 'It has expired, was used or was taken back. Ask for a new one.',
  toLogIn: 'Go to log-in',
  alreadyIn: (name: string) =>
    `You are logged in as ${name}. Log out to use this invitation for another account.`,
  toChats: 'Go to your chats',

  loggedOut: 'You were logged out. Log in again to go on where you were.',
  wrongLogIn: 'The e-mail address or the password is wrong, or the account is disabled.',
  tooMany: (wait: string) => `Too many attempts. Try again in ${wait}.`,
  tooManyNow: 'Too many attempts. Try again in a while.',
  seconds: (count: number) => (count === 1 ? '1 second' : `${count} seconds`),
  minutes: (count: number) => (count === 1 ? '1 minute' : `${count} minutes`),
  silentTryingAgain: 'Tenon does not answer. Trying again…',
  /** What a log-in elsewhere said, by its code. */
  issuerSays: {
    oidc_off: 'This way of logging in is not set up here. Log in with your password.',
    oidc_too_many: 'Too many log-ins failed from your address. Try again in a while.',
    oidc_unreachable:
      'The log-in service does not answer. Try again in a while, or log in with your password.',
    oidc_denied: 'The log-in service refused. Try again, or ask whoever runs it.',
    oidc_expired: 'This log-in took too long, or was begun in another browser. Try again.',
    oidc_untrusted:
      'What the log-in service said could not be verified. Ask an admin to look at the log.',
    oidc_email:
      'The log-in service does not vouch for your e-mail address. Confirm it there first.',
    oidc_domain: 'Addresses like yours are not let in here. Ask an admin.',
    oidc_no_account: 'There is no account for your address here. Ask an admin to invite you.',
    oidc_disabled: 'Your account is disabled. Ask an admin.',
    oidc_storage: 'Tenon could not finish the log-in. Try again.',
  } as Record<string, string>,
  issuerFailed: 'The log-in did not work. Try again, or ask an admin.',

  /** What the server would not have, by its code. */
  refusals: {
    wrong_code:
      'This code is wrong or was used already. Run `tenon link` where Tenon runs, and open the link it prints.',
    email_taken: 'There is an account with this address already.',
    wrong_email: 'The invitation is for another address.',
    wrong_invite: 'This invitation was used, taken back or is too old. Ask for a new one.',
    invite_needed: 'Only those who were invited can make an account here. Ask an admin.',
    set_up: 'There is an admin account already. Reload the page and log in.',
    set_up_first: 'There is no account yet. Reload the page and make the first one.',
    last_admin: 'This is the only admin. Make somebody else an admin first.',
    wrong_password: 'This is not your present password.',
    password_needed: 'Enter your password: you logged in some time ago.',
    login_needed:
      'You have no password here, so log in once more to show that it is you. Then do it within ten minutes.',
  } as Record<string, string>,
};

export type EntranceWords = typeof entranceEn;
