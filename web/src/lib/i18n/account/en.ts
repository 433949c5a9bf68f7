// What everybody sees of accounts once they are in.

export const accountEn = {
  logOut: 'Log out',
  notLoggedOut: (why: string) => `Not logged out: ${why}`,
  settings: 'Settings',
  personMenu: (name: string) => `${name}: settings and log-out`,
  askAdminForModel: 'An admin can connect one.',
  loggedOutTitle: 'You were logged out',
};

export type AccountMessages = typeof accountEn;
