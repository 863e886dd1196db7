const longest = 160;

/**
 * A path as it may stand in a message: quoted, with control, format (bidirectional overrides) and private
 * characters and lone surrogates as `\u{…}`, and cut in the middle when longer than 160 UTF-16 units.
 */
export function quotePath(path: string): string {
  const shown =
    path.length <= longest ? path : `${path.slice(0, longest / 2)}…${path.slice(-longest / 2)}`;
  const escaped = shown.replace(
    /[\p{C}\u2028\u2029"]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return `"${escaped}"`;
}
