/**
 * False for what the check of an answer would take for something else: a citation of its own, half a quote or half
 * of code, or the marks of the protocol.
 */
export const isShowable = (text: string): boolean =>
  !OWN_CITATION.test(text) &&
  !PROTOCOL.test(text) &&
  ['"', "`"].every((mark) => count(text, mark) % 2 === 0) &&
  PAIRS.every(([open, close]) => count(text, open) === count(text, close)) &&
  areCurlyClosed(text);

/** Also "[^1]", "[Source 1]" and "【1†…】", which models write and the check reads. */
const OWN_CITATION =
  /[[【［][\s,;–—-]{0,8}(?:\^|\p{L}{1,12}[\s:#]{1,4})?\p{Nd}[\p{Nd}\s,;，；、–—-]{0,400}(?:†[^[\]【】]{0,100})?[\]】］]/u;
const PROTOCOL = /tool_call|read_text_file|insufficient[_ ]evidence|\bscope[*_\s]{0,8}[:：]/i;
const PAIRS = ["«»", "‹›", "「」", "『』"].map((pair) => [pair.charAt(0), pair.charAt(1)] as const);

/** “English” or „German“ and „Polish”. */
function areCurlyClosed(text: string): boolean {
  const [low, left, right] = ["„", "“", "”"].map((mark) => count(text, mark));
  return low === 0 ? left === right : low === (left ?? 0) + (right ?? 0);
}

const count = (text: string, mark: string): number =>
  text.includes(mark) ? text.split(mark).length - 1 : 0;
