// What the tests of local tools share.

/** How somebody visits whose browser looks at this address, and has this key for it. */
export function lookAt(url, { key, account, ...options } = {}) {
  const endpoints = [{ url, name: '', kind: 'auto', enabled: true }];
  const keys = key ? { [url]: { header: 'Authorization', value: `Bearer ${key}` } } : {};
  const whose = account ? `tenon.${account}.` : 'tenon.';
  return {
    ...options,
    remembers: {
      [`${whose}local.endpoints`]: JSON.stringify(endpoints),
      [`${whose}local.keys`]: JSON.stringify(keys),
    },
  };
}

/** The tools that a browser found at an address, in this state if one is given. */
export async function localTools(inn, url, state) {
  const tools = await inn.tell('GET', '/tools');
  const { origin } = new URL(url);
  return tools.filter(
    ({ source }) =>
      source.local &&
      new URL(source.local.url).origin === origin &&
      (!state || source.state === state),
  );
}
