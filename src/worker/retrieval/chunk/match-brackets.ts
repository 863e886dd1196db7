/** Where each bracket of JSON is closed: by the offset of the opening one. One that never is ends with the text. */
export function matchBrackets(text: string): Int32Array {
  const ends = new Int32Array(text.length);
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at);
    else if (character === "{" || character === "[") open.push(at);
    else if (character === "}" || character === "]") {
      const opening = open.pop();
      if (opening !== undefined) ends[opening] = at;
    }
  }
  for (const opening of open) ends[opening] = text.length - 1;
  return ends;
}

/** The offset of the quote that closes a string, or the last one of the text. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === '"') return at;
  }
  return text.length - 1;
}
