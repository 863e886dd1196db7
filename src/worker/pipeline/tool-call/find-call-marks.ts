const QUOTE = String.raw`\\{0,4}["'“”‘’]`;
const COLON = String.raw`\s{0,20}:\s{0,20}`;
const quoted = (word: string): string => `${QUOTE}(?:${word})${QUOTE}`;
const named = `${quoted("name")}${COLON}${quoted("read_text_file")}`;

/**
 * What only a call in JSON holds, whichever quotes it uses: a member `type` that is "tool_call", or our tool's name beside
 * its arguments. Every repeat is bounded, so that no text makes a search longer than linear.
 */
const MARKS = [
  String.raw`[{,]\s{0,40}${quoted("type")}${COLON}${quoted("tool_call")}`,
  String.raw`\{\s{0,40}type${COLON}${QUOTE}?tool_call`,
  String.raw`${named}\s{0,40},\s{0,40}${quoted("arguments|parameters|args")}${COLON}[{"'\\]`,
  String.raw`[}"']\s{0,40},\s{0,40}${named}\s{0,40}\}`,
].map((source) => new RegExp(source, "i"));

export const holdsCallMark = (text: string): boolean => MARKS.some((mark) => mark.test(text));
