/** Begins the line before a mail, which goes on with an address, a day of delivery, or nothing. */
const FROM = "From ";
const DELIVERED = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*\b\d\d:\d\d\b.*\b\d{4}\b/;
/** How much of a line is tested; lines of delivery and names of header fields are shorter. */
const MOST_LINE_CHARS = 200;
/** MEMBER: a line of a header. KNOWN: usual header fields, of which a header has at least one. */
const MEMBER = /^(?:[!-9;-~]{1,76}:|[ \t]|>?From )/;
const KNOWN =
  /^(?:from|to|cc|date|subject|sender|reply-to|received|return-path|delivered-to|message-id|mime-version|content-type|x-[\w-]+):/i;
const MOST_LINES = 400;
const LINE_FEED = 0x0a;

/**
 * Yields the mails of a mailbox one by one, without decoding the whole. A line of a text may begin with "From " too: a mail
 * begins only if a header follows, and an empty line stands before or the line has a day of delivery.
 */
export function* splitMailbox(bytes: Buffer): Generator<Buffer> {
  let start = isHeader(bytes, 0) ? 0 : undefined;
  for (let at = bytes.indexOf(FROM); at !== -1; at = bytes.indexOf(FROM, at + FROM.length)) {
    if (at > 0 && bytes[at - 1] !== LINE_FEED) continue;
    const next = bytes.indexOf(LINE_FEED, at) + 1;
    if (next === 0) break;
    const isApart = /(?:^|\n\r?\n)$/.test(latin1(bytes, Math.max(0, at - 3), at));
    const isDelivery = DELIVERED.test(lineOf(bytes, at, next));
    // With both signs, a header that was damaged by hand still begins a mail.
    const isHead = isApart && isDelivery ? MEMBER.test(lineOf(bytes, next)) : isHeader(bytes, next);
    if (!(isApart || isDelivery) || !isHead) continue;
    if (start !== undefined && at > start) yield mailOf(bytes.subarray(start, at));
    start = next;
  }
  if (start !== undefined) yield mailOf(bytes.subarray(start));
}

/** Removes the ">" that a mailbox puts before a line of text that begins with "From ". */
const mailOf = (bytes: Buffer): Buffer =>
  bytes.includes(`>${FROM}`)
    ? Buffer.from(latin1(bytes).replaceAll(/^>(>*From )/gm, "$1"), "latin1")
    : bytes;

const latin1 = (bytes: Buffer, start = 0, end = bytes.length): string =>
  bytes.toString("latin1", start, end);

/** The beginning of a line. */
const lineOf = (bytes: Buffer, start: number, end = bytes.length): string =>
  latin1(bytes, start, Math.min(end, start + MOST_LINE_CHARS)).replace(/\r?\n[^]*/, "");

/** Whether a header begins there: only header lines up to an empty line. */
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
