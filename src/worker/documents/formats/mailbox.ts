/** The line before a mail, with the day of its delivery as mailboxes write it, or an address, or nothing. */
const FROM = "From ";
const DELIVERED = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*\b\d\d:\d\d\b.*\b\d{4}\b/;
/** A longer line is no delivery's, and the name of a member stands in fewer characters. */
const MOST_LINE_CHARS = 200;
/** A member of a header; what mails have, of which one is there at least. */
const MEMBER = /^(?:[!-9;-~]{1,76}:|[ \t]|>?From )/;
const KNOWN =
  /^(?:from|to|cc|date|subject|sender|reply-to|received|return-path|delivered-to|message-id|mime-version|content-type|x-[\w-]+):/i;
const MOST_LINES = 400;
const LINE_FEED = 0x0a;

/**
 * The mails of a mailbox, one after the other: it is never text as a whole. A line of a text may begin with "From " as well:
 * a mail begins where a header follows, behind an empty line or one that has a day of delivery.
 */
export function* splitMailbox(bytes: Buffer): Generator<Buffer> {
  let start = isHeader(bytes, 0) ? 0 : undefined;
  for (let at = bytes.indexOf(FROM); at !== -1; at = bytes.indexOf(FROM, at + FROM.length)) {
    if (at > 0 && bytes[at - 1] !== LINE_FEED) continue;
    const next = bytes.indexOf(LINE_FEED, at) + 1;
    if (next === 0) break;
    const isApart = /(?:^|\n\r?\n)$/.test(latin1(bytes, Math.max(0, at - 3), at));
    const isDelivery = DELIVERED.test(lineOf(bytes, at, next));
    // A header that was broken by hand still begins a mail where both marks are there.
    const isHead = isApart && isDelivery ? MEMBER.test(lineOf(bytes, next)) : isHeader(bytes, next);
    if (!(isApart || isDelivery) || !isHead) continue;
    if (start !== undefined && at > start) yield mailOf(bytes.subarray(start, at));
    start = next;
  }
  if (start !== undefined) yield mailOf(bytes.subarray(start));
}

/** Without the mark that keeps a line of its text from being the line before a mail. */
const mailOf = (bytes: Buffer): Buffer =>
  bytes.includes(`>${FROM}`)
    ? Buffer.from(latin1(bytes).replaceAll(/^>(>*From )/gm, "$1"), "latin1")
    : bytes;

const latin1 = (bytes: Buffer, start = 0, end = bytes.length): string =>
  bytes.toString("latin1", start, end);

/** The beginning of a line. */
const lineOf = (bytes: Buffer, start: number, end = bytes.length): string =>
  latin1(bytes, start, Math.min(end, start + MOST_LINE_CHARS)).replace(/\r?\n[^]*/, "");

/** Whether a header begins there, of members alone up to its empty line. */
function isHeader(bytes: Buffer, from: number): boolean {
  let isKnown = false;
  let at = from;
  for (let line = 0; line < MOST_LINES; line += 1) {
    const end = bytes.indexOf(LINE_FEED, at);
    const content = lineOf(bytes, at, end === -1 ? bytes.length : end + 1);
    if (content === "" || end === -1) return isKnown;
    if (!MEMBER.test(content)) return false;
    isKnown ||= KNOWN.test(content);
    at = end + 1;
  }
  return isKnown;
}
