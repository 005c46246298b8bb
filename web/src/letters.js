// Bytes from letters: 13 bits in two of 91, as `tools/build_web.py` writes them.

const ALPHABET = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter((letter) => !"<&'".includes(letter)).join('');

/** The bytes that letters stand for. */
export function bytesOf(letters) {
  const value = new Uint8Array(128);
  for (let at = 0; at < ALPHABET.length; at++) value[ALPHABET.charCodeAt(at)] = at;
  const pairs = Math.floor(letters.length / 2);
  const bytes = new Uint8Array(Math.floor((pairs * 13) / 8) + (letters.length % 2));
  let [kept, count, length] = [0, 0, 0];
  for (let at = 0; at < 2 * pairs; at += 2) {
    kept |= (value[letters.charCodeAt(at)] * 91 + value[letters.charCodeAt(at + 1)]) << count;
    for (count += 13; count >= 8; count -= 8) {
      bytes[length++] = kept & 255;
      kept >>>= 8;
    }
  }
  // Up to five bits at the end are one letter.
  if (letters.length % 2) bytes[length] = kept | (value[letters.charCodeAt(2 * pairs)] << count);
  return bytes;
}
