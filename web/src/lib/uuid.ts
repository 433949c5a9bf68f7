/** A fresh UUID, version 7: sorts by time. `crypto.randomUUID` is for pages over https alone. */
export function freshUuid(): string {
  const random = crypto.getRandomValues(new Uint8Array(10));
  const [version = 0, , variant = 0] = random;
  random[0] = (version & 0x0f) | 0x70;
  random[2] = (variant & 0x3f) | 0x80;
  const time = Date.now().toString(16).padStart(12, '0');
  const hex = time + Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
