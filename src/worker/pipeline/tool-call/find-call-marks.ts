const QUOTE = String.raw`\\{0,4}["'“”‘’]`;
const COLON = String.raw`\s{0,20}:\s{0,20}`;
const quoted = (word: string): string => `${QUOTE}(?:${word})${QUOTE}`;
const named = `${quoted("name")}${COLON}${quoted("read_text_file")}`;

/**
 * What only a call holds, whichever quotes it uses: a member `type` that is "tool_call", or our tool's name beside
 * its arguments. Every repeat is bounded, so that no text makes a search longer than linear.
 */
const MARKS = [
  String.raw`[{,]\s{0,40}${quoted("type")}${COLON}${quoted("tool_call")}`,
  String.raw`\{\s{0,40}type${COLON}${QUOTE}?tool_call`,
  String.raw`${named}\s{0,40},\s{0,40}${quoted("arguments|parameters|args")}${COLON}[{"'\\]`,
  String.raw`[}"']\s{0,40},\s{0,40}${named}\s{0,40}\}`,
].map((source) => new RegExp(source, "i"));

/** Tags that announce a call, with something behind them that could be one; a sentence about a tag has words there. */
const TAG_WITH_CALL =
  /(?:<\|?(?:tool_calls?|function_call)\|?>|\[TOOL_CALLS\]|<\|python_tag\|>)\s{0,40}(?:(?:`{3,9}|~{3,9})[\w-]{0,20}\s{0,40})?(?:[{[]|<\w|read_text_file)|<function=["']?read_text_file/i;

/** `read_text_file(…)` and nothing else, as some families write a call. */
const BARE_INVOCATION = /^\[?\s{0,20}read_text_file\s{0,20}\([^()]{0,2000}\)\s{0,20}\]?\s*$/;

export const holdsCallMark = (text: string): boolean => MARKS.some((mark) => mark.test(text));

export const holdsTaggedCall = (text: string): boolean => TAG_WITH_CALL.test(text);

export const isBareInvocation = (text: string): boolean => BARE_INVOCATION.test(text);
