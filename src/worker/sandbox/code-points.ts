/** The number of Unicode code points of a text, given the UTF-8 bytes it was decoded from. */
export function countCodePoints(text: string, utf8: Buffer): number {
  if (text.length === utf8.length) return text.length;
  // Only code points beyond U+FFFF take two UTF-16 units, and only they start with a byte from F0.
  let pairs = 0;
  for (const byte of utf8) if (byte >= 0xf0) pairs += 1;
  return text.length - pairs;
}

/** The first `count` code points of a text that holds no lone surrogate. */
export function firstCodePoints(text: string, count: number): string {
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1) {
    const unit = text.charCodeAt(end);
    end += unit >= 0xd800 && unit <= 0xdbff ? 2 : 1;
  }
  return text.slice(0, end);
}
