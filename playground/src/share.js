// Models in addresses: the part behind `#` is never sent anywhere.

const LARGEST = 1 << 20;

async function through(stream, bytes, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
  let size = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error('the model in the address is too large');
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** A text as a part of an address. */
export async function pack(text) {
  const bytes = await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(text));
  let letters = '';
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The text of such a part. */
export async function unpack(part) {
  const letters = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(letters, letter => letter.charCodeAt(0));
  const text = await through(new DecompressionStream('deflate-raw'), bytes, LARGEST);
  return new TextDecoder('utf-8', {fatal: true}).decode(text);
}
