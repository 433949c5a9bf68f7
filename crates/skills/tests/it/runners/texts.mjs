/**
 * title: Texts
 * version: 1.2.0
 * description: Works on texts.
 */

export const settings = { type: 'object', properties: { separator: { type: 'string' } } };

/**
 * Join words.
 * @param {string[]} words - The words, each
 *   one of them.
 * @param {string} [separator=", "] What stands between.
 * @returns {string}
 */
export async function join(words, separator = ', ', context) {
  console.log('not for the protocol');
  context.emit('joining');
  return words.join(context.settings.separator ?? separator);
}

/**
 * Repeat a text.
 * @param {object} input
 * @param {string} input.text The text.
 * @param {"plain"|"loud"} [input.mode]
 * @param {number} input.times How often.
 */
export const repeat = ({ text, times }) => text.repeat(times);

export function fail(x) {
  throw new TypeError(`bad ${x}`);
}

export const _hidden = () => 1;
