import { extname } from "node:path";
import type { Address, Attachment, Email } from "postal-mime";
import { htmlText } from "../../web/html-text.ts";
import { decodeBytes } from "../encoding.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import { placesIn } from "../places.ts";
import { inChild } from "../reader/reader.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import { readCsv } from "./csv.ts";
import { readDocx } from "./docx.ts";
import type { Format } from "./format.ts";
import type { Extraction, FileMetadata } from "../extraction.ts";
import { readHtml } from "./html.ts";
import { markQuotes } from "./mail-quotes.ts";
import { MARKDOWN } from "./markdown.ts";
import { readOdt } from "./odt.ts";
import { readPdf } from "./pdf.ts";
import { readXlsx } from "./xlsx.ts";

/** One mail. */
export const EML: Format = {
  name: "eml",
  extensions: [".eml"],
  extractor: inChild("eml 2", { home: import.meta.url, name: "readEml" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (...text) => MARKDOWN.cut(...text),
};

/** A mailbox: mails one after the other, each behind a line that begins with "From ". */
export const MBOX: Format = {
  ...EML,
  name: "mbox",
  extensions: [".mbox"],
  extractor: inChild("mbox 3", { home: import.meta.url, name: "readMbox" }),
};

type Read = (bytes: Buffer, limits: TextLimits) => Extraction | Promise<Extraction>;

/** Attachments that are read as files of these endings are. */
const READERS: Readonly<Record<string, Read>> = {
  ".csv": readCsv,
  ".tsv": readCsv,
  ".html": readHtml,
  ".htm": readHtml,
  ".docx": readDocx,
  ".odt": readOdt,
  ".pdf": readPdf,
  ".xlsx": readXlsx,
  ".txt": readPlain,
  ".md": readPlain,
};

function readPlain(bytes: Buffer, limits: TextLimits): Extraction {
  const decoded = decodeBytes(bytes);
  if (decoded === undefined) throw new NoText("FILE_READ_ERROR", "is no text");
  const builder = openTextBuilder(limits);
  builder.add(decoded.text);
  return builder.finish();
}

export async function readEml(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  const mail = await parseMail(bytes);
  if (mail.from === undefined && mail.subject === undefined && mail.date === undefined) {
    throw new NoText("FILE_FORMAT_INVALID", "has no header of a mail: save the mail anew as .eml.");
  }
  const builder = openTextBuilder(limits);
  const isTruncated = endsTooSoon(mail, bytes);
  const work = { builder, limits, count: countEntries("parts", limits), depth: 0 };
  await addMail(mail, { ...work, isTruncated });
  return builder.finish({ ...metadataOf(mail), ...(isTruncated ? { truncated: true } : {}) });
}

export async function readMbox(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  const builder = openTextBuilder(limits);
  const count = countEntries("parts", limits);
  let message = 0;
  let newest = "";
  let truncated = 0;
  for (const content of splitMailbox(bytes)) {
    count();
    message += 1;
    builder.place({ message });
    const mail = await parseMail(content);
    if (mail.date !== undefined && isDay(mail.date) && mail.date > newest) newest = mail.date;
    const isTruncated = endsTooSoon(mail, content);
    if (isTruncated) truncated += 1;
    await addMail(mail, { builder, limits, count, depth: 0, message, isTruncated });
  }
  if (message === 0) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      'has no line that begins with "From ": save the mailbox anew.',
    );
  }
  return builder.finish({
    messages: message,
    ...(newest === "" ? {} : { date: newest }),
    ...(truncated === 0 ? {} : { truncated_messages: truncated }),
  });
}

/** A header that is no date is given as it is written. */
const isDay = (date: string): boolean => /^\d{4}-\d\d-\d\d/.test(date);

/** Its own limits end a mail whose parts are nested deeper than any program nests them. */
async function parseMail(bytes: Buffer): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  try {
    return await PostalMime.parse(bytes, { maxNestingDepth: 50, forceRfc822Attachments: true });
  } catch {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "has parts in parts, or headers, beyond what mails have: save its text alone.",
    );
  }
}

/** The boundary that parts of a mail are between, with its quotation marks or without. */
const BOUNDARY = /;\s{0,9}boundary\s{0,9}=\s{0,9}(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i;

/**
 * Whether a mail of several parts lacks the line that ends the last one, which every program writes (RFC 2046): what was
 * behind the end of the file is gone. Of a mail of one part nothing tells it.
 */
function endsTooSoon({ headers }: Email, bytes: Buffer): boolean {
  const type = headers.find(({ key }) => key === "content-type")?.value ?? "";
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined || !/^\s*multipart\//i.test(type)) return false;
  return bytes.lastIndexOf(`--${boundary}--`, undefined, "latin1") === -1;
}

/** The line that begins a mail has an address and a year; one in a text is written with a mark before it. */
const SEPARATOR = /^From \S+ .*\b\d{4}\b.*\r?\n/gm;

function* splitMailbox(bytes: Buffer): Generator<Buffer> {
  const text = bytes.toString("latin1");
  let start: number | undefined;
  const mail = (end: number): Buffer =>
    Buffer.from(text.slice(start, end).replaceAll(/^>(>*From )/gm, "$1"), "latin1");
  for (const match of text.matchAll(SEPARATOR)) {
    if (start !== undefined) yield mail(match.index);
    start = match.index + match[0].length;
  }
  if (start !== undefined) yield mail(text.length);
}

type MailWork = {
  readonly builder: TextBuilder;
  readonly limits: TextLimits;
  readonly count: () => void;
  /** Of mails in mails. */
  readonly depth: number;
  /** Its number in a mailbox. */
  readonly message?: number;
  readonly isTruncated: boolean;
};

async function addMail(mail: Email, work: MailWork): Promise<void> {
  const { builder, depth } = work;
  const mark = "#".repeat(Math.min(6, 1 + 2 * depth));
  builder.add(`${mark} ${oneLine(mail.subject ?? "(no subject)")}\n\n`);
  for (const line of headerLines(mail)) builder.add(`${line}\n`);
  if (work.isTruncated) builder.add(`${TRUNCATED}\n`);
  builder.add(`\n${markQuotes(bodyOf(mail), `${mark}##`.slice(0, 6))}\n\n`);
  for (const attachment of mail.attachments) await addAttachment(attachment, work);
}

const TRUNCATED =
  "(The mail is truncated: its last part has no end. What came after is not there.)";

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 500);

function headerLines(mail: Email): string[] {
  const { from, to, cc, date } = mail;
  return [
    ...(from === undefined ? [] : [`From: ${addressesOf([from])}`]),
    ...(to === undefined ? [] : [`To: ${addressesOf(to)}`]),
    ...(cc === undefined ? [] : [`Cc: ${addressesOf(cc)}`]),
    ...(date === undefined ? [] : [`Date: ${date}`]),
  ];
}

const MOST_ADDRESSES = 100;

const namesOf = (addresses: readonly Address[]): string[] =>
  addresses
    .flatMap((address) => address.group ?? [address])
    .slice(0, MOST_ADDRESSES)
    .map(({ name, address }) => oneLine(name === "" ? address : `${name} <${address}>`));

const addressesOf = (addresses: readonly Address[]): string => namesOf(addresses).join(", ");

function metadataOf(mail: Email): FileMetadata {
  const { from, to, cc, date, subject, messageId, inReplyTo, attachments } = mail;
  const names = attachments.flatMap(({ filename }) =>
    filename === null ? [] : [oneLine(filename)],
  );
  return {
    ...(subject === undefined ? {} : { title: oneLine(subject) }),
    ...(from === undefined ? {} : { from: addressesOf([from]) }),
    ...(to === undefined ? {} : { to: namesOf(to) }),
    ...(cc === undefined ? {} : { cc: namesOf(cc) }),
    ...(date === undefined ? {} : { date }),
    ...(messageId === undefined ? {} : { message_id: oneLine(messageId) }),
    ...(inReplyTo === undefined ? {} : { in_reply_to: oneLine(inReplyTo) }),
    ...(names.length === 0 ? {} : { attachments: names }),
  };
}

/** Its plain text, or the words of its page. */
function bodyOf({ text, html }: Email): string {
  if (text !== undefined && text.trim() !== "") return text.replaceAll(/\r\n?/g, "\n").trimEnd();
  if (html === undefined) return "";
  const page = htmlText({ html, url: "about:blank" });
  return page.kind === "text" ? page.text : "(a page that is nested too deep to be read)";
}

const DEEPEST_MAIL = 3;

/** Under its name; its text where it is of a format that is read, and otherwise the reason why it has none. */
async function addAttachment(attachment: Attachment, work: MailWork): Promise<void> {
  const { builder, limits, count, depth, message } = work;
  count();
  const bytes = bytesOf(attachment);
  const name = oneLine(attachment.filename ?? attachment.mimeType);
  builder.add(`## Attachment: ${name} (${attachment.mimeType}, ${bytes.length} bytes)\n\n`);
  if (attachment.mimeType === "message/rfc822" && depth < DEEPEST_MAIL) {
    const mail = await parseMail(bytes);
    await addMail(mail, { ...work, depth: depth + 1, isTruncated: endsTooSoon(mail, bytes) });
    return;
  }
  const read = READERS[extname(name).toLowerCase()];
  if (read === undefined) return;
  try {
    const left = { ...limits, chars: Math.max(0, limits.chars - builder.length) };
    const extracted = await read(bytes, left);
    if (extracted.kind !== "text") return;
    for (const { start, end, locator } of placesIn(extracted.places, extracted.text.length)) {
      builder.place({ ...locator, ...(message === undefined ? {} : { message }) });
      builder.add(extracted.text.slice(start, end));
    }
    builder.place(message === undefined ? {} : { message });
    builder.add("\n\n");
  } catch (error) {
    // One bad attachment leaves the mail as it is, unless it is too much for all of it.
    if (!(error instanceof NoText) || error.code === "FILE_TOO_LARGE") throw error;
    builder.add(`(not read: ${error.code})\n\n`);
  }
}

const bytesOf = ({ content }: Attachment): Buffer => {
  if (typeof content === "string") return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
};
