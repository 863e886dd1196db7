import { bodyStart } from "./mail-charsets.ts";

/**
 * How a mail shows that it was cut short: the boundary that ends its last part is missing; the encoding of its text breaks
 * off; or it has fewer bytes and lines than its header counts.
 */
export type MissingEnd = "boundary" | "encoding" | "length";

/** Names of headers are in lower case. */
type ParsedMail = { readonly headers: readonly { readonly key: string; readonly value: string }[] };

/**
 * How a mail shows that its end is missing; null if nothing shows it. For a single part in plain text, or in base64 that
 * was cut between two groups of four characters, only a header that counts bytes or lines can show it.
 */
export function findMissingEnd(mail: ParsedMail, bytes: Buffer): MissingEnd | null {
  const type = headerOf(mail, "content-type");
  if (/^\s*multipart\//i.test(type)) return hasLastBoundary(type, bytes) ? null : "boundary";
  const body = bytes.subarray(bodyStart(bytes));
  const end = endOfEncoding(headerOf(mail, "content-transfer-encoding"), body);
  if (end === "broken off") return "encoding";
  return end === "unknown" && isShorterThanCounted(mail, body) ? "length" : null;
}

const headerOf = ({ headers }: ParsedMail, name: string): string =>
  headers.find(({ key }) => key === name)?.value ?? "";

/** The boundary between the parts of a mail, quoted or not. */
const BOUNDARY = /;\s{0,9}boundary\s{0,9}=\s{0,9}(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i;

/** Every program writes the line that ends the last part (RFC 2046). */
function hasLastBoundary(type: string, bytes: Buffer): boolean {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  const boundary = quoted ?? plain;
  return boundary === undefined || bytes.includes(`--${boundary}--`, 0, "latin1");
}

type EncodingEnd = "reached" | "broken off" | "unknown";

function endOfEncoding(encoding: string, body: Buffer): EncodingEnd {
  const name = encoding.trim().toLowerCase();
  if (name === "base64") return endOfBase64(body.toString("latin1").replaceAll(/\s+/g, ""));
  return name === "quoted-printable" ? endOfQuotedPrintable(body.toString("latin1")) : "unknown";
}

/** Base64 has groups of four characters, the last one padded with "=" (RFC 2045). A mailing list may add words behind it. */
function endOfBase64(characters: string): EncodingEnd {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(characters)) return "unknown";
  if (characters.length % 4 !== 0) return "broken off";
  return characters.endsWith("=") ? "reached" : "unknown";
}

/**
 * A character is "=" and two digits. A "=" before the last line end proves nothing, because some programs write that; a "="
 * at the very end does.
 */
function endOfQuotedPrintable(text: string): EncodingEnd {
  return /(?:=[0-9A-F][\r\n]*|=)$/i.test(text.slice(-LONGEST_TAIL)) ? "broken off" : "unknown";
}

/** A mailbox puts empty lines behind each mail. */
const LONGEST_TAIL = 16;

/** Programs count line ends and last empty lines differently. */
const SLACK = { bytes: 4, lines: 1 };

/** Whether every count of the header is larger than the body can ever have been. */
function isShorterThanCounted(mail: ParsedMail, body: Buffer): boolean {
  const counted = [
    { count: countIn(mail, "content-length"), most: () => mostBytes(body) + SLACK.bytes },
    { count: countIn(mail, "lines"), most: () => countLines(body) + SLACK.lines },
  ].filter(({ count }) => count !== undefined);
  return counted.length > 0 && counted.every(({ count = 0, most }) => count > most());
}

function countIn(mail: ParsedMail, header: string): number | undefined {
  const value = headerOf(mail, header).trim();
  return /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}

/** The size with two bytes per line end, and with the ">" that mailboxes put before lines that begin with "From ". */
function mostBytes(body: Buffer): number {
  const text = body.toString("latin1");
  const bareEnds = text.match(/(?<!\r)\n/g)?.length ?? 0;
  const fromLines = text.match(/^>*From /gm)?.length ?? 0;
  return body.length + bareEnds + fromLines;
}

const countLines = (body: Buffer): number => body.toString("latin1").split("\n").length;
