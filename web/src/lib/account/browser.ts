// What a browser says it is, as its owner would call it.

/** In the order in which they must be looked for: each pretends to be one that comes after it. */
const browsers: [string, RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
];

const systems: [string, RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** "Firefox", "Linux"; what is not known is left out, and nothing known is the text itself. */
export function browserOf(agent: string): string[] {
  const known = [browsers, systems].flatMap((names) => {
    const name = names.find(([, pattern]) => pattern.test(agent))?.[0];
    return name ? [name] : [];
  });
  return known.length > 0 || !agent ? known : [agent];
}
