import type { Address, Email } from "postal-mime";
import { MAIL_HEADINGS } from "../../text/mail-header.ts";
import { htmlText } from "../../web/html-text.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import { inChild } from "../reader/reader.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import type { Format } from "./format.ts";
import type { Extraction, FileMetadata } from "../extraction.ts";
import { attachedParts, gatherAttachments } from "./mail-attachments.ts";
import type { AttachedPart } from "./mail-attachments.ts";
import { findMissingEnd } from "./mail-end.ts";
import type { MissingEnd } from "./mail-end.ts";
import { markQuotes } from "./mail-quotes.ts";
import { MARKDOWN } from "./markdown.ts";

/** One mail. */
export const EML: Format = {
  name: "eml",
  extensions: [".eml"],
  extractor: inChild("eml 4", { home: import.meta.url, name: "readEml" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (...text) => MARKDOWN.cut(...text),
};

/** A mailbox: mails one after the other, each behind a line that begins with "From ". */
export const MBOX: Format = {
  ...EML,
  name: "mbox",
  extensions: [".mbox"],
  extractor: inChild("mbox 5", { home: import.meta.url, name: "readMbox" }),
};

export async function readEml(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  const mail = await parseMail(bytes);
  if (mail.from === undefined && mail.subject === undefined && mail.date === undefined) {
    throw new NoText("FILE_FORMAT_INVALID", "has no header of a mail: save the mail anew as .eml.");
  }
  const builder = openTextBuilder(limits);
  const gathered = gatherAttachments(limits);
  const missingEnd = findMissingEnd(mail, bytes);
  addMail(mail, { builder, gathered, count: countEntries("parts", limits), missingEnd });
  const metadata = { ...metadataOf(mail), ...(missingEnd === null ? {} : { truncated: true }) };
  return { ...builder.finish(metadata), ...gathered.finish() };
}

export async function readMbox(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  const builder = openTextBuilder(limits);
  const gathered = gatherAttachments(limits);
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
    const missingEnd = findMissingEnd(mail, content);
    if (missingEnd !== null) truncated += 1;
    addMail(mail, { builder, gathered, count, message, missingEnd });
  }
  if (message === 0) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      'has no line that begins with "From ": save the mailbox anew.',
    );
  }
  const metadata = {
    messages: message,
    ...(newest === "" ? {} : { date: newest }),
    ...(truncated === 0 ? {} : { truncated_messages: truncated }),
  };
  return { ...builder.finish(metadata), ...gathered.finish() };
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
  readonly gathered: ReturnType<typeof gatherAttachments>;
  readonly count: () => void;
  /** Its number in a mailbox. */
  readonly message?: number;
  readonly missingEnd: MissingEnd | null;
};

function addMail(mail: Email, { builder, gathered, count, message, missingEnd }: MailWork): void {
  builder.add(`# ${oneLine(mail.subject ?? "(no subject)")}\n\n`);
  for (const line of headerLines(mail)) builder.add(`${line}\n`);
  if (missingEnd !== null)
    builder.add(
      `(The mail is truncated: ${TRUNCATED[missingEnd]} What came after is not there.)\n`,
    );
  builder.add(`\n${markQuotes(bodyOf(mail), "###")}\n\n`);
  const { date, attachments } = mail;
  if (attachments.length === 0) return;
  for (let part = 0; part < attachments.length; part += 1) count();
  const parts = attachedParts(attachments, { date, message });
  builder.add(`## ${MAIL_HEADINGS.attachments}\n\n${parts.map(lineOf).join("")}\n`);
  gathered.add(parts);
}

/** What it is called by its sender, and where it is found below the file. */
const lineOf = ({ givenName, name, type, bytes }: AttachedPart): string =>
  `- ${oneLine(givenName === "" ? type : givenName)} (${oneLine(type)}, ${bytes.length} bytes): ${name}\n`;

const TRUNCATED: Readonly<Record<MissingEnd, string>> = {
  boundary: "its last part has no end.",
  encoding: "its text breaks off in the middle of a character.",
  length: "its header counts more than there is.",
};

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
