// A scenario in the fragment of an address: deflated, in base64 that addresses may hold.

/** The fragment for a TOML text. */
export async function toFragment(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return `#s=${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The TOML text of a fragment; null if it holds none. */
export async function fromFragment(fragment, atMost = 200_000) {
  const coded = /^#s=([\w-]+)$/.exec(fragment)?.[1];
  if (!coded) return null;
  try {
    const binary = atob(coded.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'), atMost));
  } catch {
    return null;
  }
}

/** Passes bytes through a stream; more than `atMost` are an error. */
export async function through(bytes, stream, atMost = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > atMost) throw new RangeError(`more than ${atMost} bytes`);
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
