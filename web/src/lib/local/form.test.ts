import { expect, test } from 'vitest';
import { endpointOf, addressFields, keyOf, addressProblems, type AddressFields } from './form';

const fields = (more: Partial<AddressFields>): AddressFields => ({
  ...addressFields(undefined, undefined),
  ...more,
});

test('a port is an address, and an address is tidied', () => {
  const check = (address: string, expected: string | undefined) =>
    expect(endpointOf(fields({ address }), true)?.url).toBe(expected);
  check('8000', 'http://localhost:8000');
  check(' localhost:8000/ ', 'http://localhost:8000');
  check('https://localhost:8443/mcp', 'https://localhost:8443/mcp');
  check('ftp://localhost', undefined);
  check('', undefined);
});

test('what cannot be an address is told of, and so is one that is there', () => {
  const check = (address: string, expected: object) =>
    expect(addressProblems(fields({ address }), ['http://localhost:8000'])).toEqual(expected);
  check('8001', {});
  check(' ', { address: 'missing' });
  check('ftp://x', { address: 'notAddress' });
  check('localhost:8000/', { address: 'twice' });
  check('http://127.0.0.1:8000', { address: 'twice' });
  check('[::1]:8000', { address: 'twice' });
  check('https://localhost:8000', {});
  expect(addressProblems(fields({ address: '1', header: 'X Key' }), [])).toEqual({
    header: 'notHeader',
  });
});

test('a key alone is a bearer’s, in the usual header', () => {
  const check = (header: string, key: string, expected: string) =>
    expect(keyOf(fields({ address: '8000', header, key }), undefined)?.value).toBe(expected);
  check('Authorization', 'secret', 'Bearer secret');
  check('authorization', 'Basic YTpi', 'Basic YTpi');
  check('X-Api-Key', 'secret', 'secret');
  expect(keyOf(fields({ address: '8000', header: ' ', key: 's' }), undefined)).toEqual({
    header: 'Authorization',
    value: 'Bearer s',
  });
  expect(keyOf(fields({ address: '8000' }), undefined)).toBeUndefined();
});

test('a key stays with its server and goes to no other', () => {
  const before = { url: 'http://localhost:8000', key: { header: 'X-Key', value: 'old' } };
  const check = (more: Partial<AddressFields>, expected: object | undefined) =>
    expect(keyOf(fields({ header: 'X-Key', ...more }), before)).toEqual(expected);
  check({ address: 'http://localhost:8000/mcp' }, { header: 'X-Key', value: 'old' });
  check({ address: '8000', header: 'X-Other' }, { header: 'X-Other', value: 'old' });
  check({ address: '8000', key: 'new' }, { header: 'X-Key', value: 'new' });
  check({ address: '8001' }, undefined);
});
