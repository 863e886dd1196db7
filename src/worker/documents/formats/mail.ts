import type { Address, Email } from "postal-mime";
import { MAIL_HEADINGS } from "../../text/mail-header.ts";
import { htmlText } from "../../web/html-text.ts";
import { hasCode } from "../../../shared/store/connection/errors.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import type { Extraction, FileMetadata } from "../extraction.ts";
import { countLeftOut } from "../left-out.ts";
import type { LeftOutCounter } from "../left-out.ts";
import { attachedParts, bytesOf, gatherAttachments } from "./mail-attachments.ts";
import type { AttachedPart } from "./mail-attachments.ts";
import { choosePart } from "./mail-body.ts";
import { withMailDecoder, withPlainHeader } from "./mail-charsets.ts";
import { findMissingEnd } from "./mail-end.ts";
import type { MissingEnd } from "./mail-end.ts";
import { invitationText } from "./ics.ts";
import { markQuotes } from "./mail-quotes.ts";
import { readSealed } from "./mail-seal.ts";
import { splitMailbox } from "./mailbox.ts";

/** Reads one mail. */
export async function readEml(file: Buffer, limits: TextLimits): Promise<Extraction> {
  const bytes = withPlainHeader(file);
  const mail = await parseMail(bytes);
  if (mail.from === undefined && mail.subject === undefined && mail.date === undefined) {
    throw new NoText("FILE_FORMAT_INVALID", "has no header of a mail: save the mail anew as .eml.");
  }
  const builder = openTextBuilder(limits);
  const gathered = gatherAttachments(limits);
  const missingEnd = findMissingEnd(mail, bytes);
  const leftOut = countLeftOut();
  addMail(mail, { builder, gathered, leftOut, count: countEntries("parts", limits), missingEnd });
  const metadata = { ...metadataOf(mail), ...(missingEnd === null ? {} : { truncated: true }) };
  return { ...builder.finish(metadata), ...gathered.finish(), ...leftOut.finish() };
}

/** Reads a mailbox: mails one after the other, each behind a line that begins with "From ". */
export async function readMbox(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  const builder = openTextBuilder(limits);
  const gathered = gatherAttachments(limits);
  const leftOut = countLeftOut();
  let message = 0;
  let newest = "";
  let truncated = 0;
  for (const content of splitMailbox(bytes)) {
    const count = countEntries("parts of a mail", limits);
    message += 1;
    builder.place({ message });
    const mail = await parseMail(withPlainHeader(content));
    if (mail.date !== undefined && isLater(mail.date, newest)) newest = mail.date;
    const missingEnd = findMissingEnd(mail, content);
    if (missingEnd !== null) truncated += 1;
    addMail(mail, { builder, gathered, leftOut, count, message, missingEnd });
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
  return { ...builder.finish(metadata), ...gathered.finish(), ...leftOut.finish() };
}

/** Whether a mail was sent later than at `newest`. The parser passes a Date header that is no date on as it is written. */
const isLater = (date: string, newest: string): boolean =>
  /^\d{4}-\d\d-\d\d/.test(date) && (newest === "" || Date.parse(date) > Date.parse(newest));

/** Parses a mail. The limits of the parser refuse parts that are nested deeper than any program nests them. */
async function parseMail(bytes: Buffer): Promise<Email> {
  try {
    return await withMailDecoder(async () => {
      const { default: PostalMime } = await import("postal-mime");
      const options = { maxNestingDepth: 50, forceRfc822Attachments: true };
      return withWrittenDate(await PostalMime.parse(bytes, options));
    });
  } catch (error) {
    if (hasCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "has parts in parts, or headers, beyond what mails have: save its text alone.",
    );
  }
}

const DATE_TIME =
  /^(.{1,60}?:\d\d(?:\.\d{1,6})?)\s*((?:GMT|UTC?)?[+-]\d\d:?\d\d|GMT|UTC?|Z|[ECMP][SD]T)?(?:\s*\([^()]{0,60}\))?\s*$/i;
const MOST_OFFSET = 16 * 60;

/**
 * A mail with the day and time that its Date header has, and its offset: `2026-05-01T00:30:00+02:00`. The parser converts
 * them to UTC, which is often another day.
 */
function withWrittenDate(mail: Email): Email {
  const header = mail.headers.find(({ key }) => key === "date")?.value ?? "";
  const [, time, zone] = DATE_TIME.exec(header) ?? [];
  const written = time === undefined ? NaN : Date.parse(`${time}Z`);
  const offset = zone === undefined ? 0 : (written - Date.parse(header)) / 60_000;
  if (Number.isNaN(written + offset) || Math.abs(offset) > MOST_OFFSET) return mail;
  const distance = new Date(Math.abs(offset) * 60_000).toISOString().slice(11, 16);
  const suffix = offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${distance}`;
  const local = new Date(written).toISOString().slice(0, 19);
  return { ...mail, date: `${local}${zone === undefined ? "" : suffix}` };
}

type MailWork = {
  readonly builder: TextBuilder;
  readonly gathered: ReturnType<typeof gatherAttachments>;
  readonly leftOut: LeftOutCounter;
  readonly count: () => void;
  /** Number of the mail in a mailbox, from 1. */
  readonly message?: number;
  readonly missingEnd: MissingEnd | null;
};

function addMail(mail: Email, work: MailWork): void {
  const { builder, gathered, leftOut, count, message, missingEnd } = work;
  builder.add(`# ${oneLine(mail.subject ?? "(no subject)")}\n\n`);
  for (const line of headerLines(mail)) builder.add(`${line}\n`);
  if (missingEnd !== null)
    builder.add(
      `(The mail is truncated: ${TRUNCATED[missingEnd]} What came after is not there.)\n`,
    );
  const { notes, encrypted, withoutSeals } = readSealed(mail);
  leftOut.add("encrypted parts", encrypted);
  const body = withoutSeals(bodyOf(mail, leftOut));
  builder.add(`\n${notes.map((note) => `(${note})\n`).join("")}${markQuotes(body, "###")}\n\n`);
  const { date, attachments } = mail;
  for (const invitation of invitationsOf(attachments))
    builder.add(`## Invitation\n\n${invitation}\n\n`);
  if (attachments.length === 0) return;
  for (let part = 0; part < attachments.length; part += 1) count();
  const parts = attachedParts(attachments, { date, message });
  builder.add(`## ${MAIL_HEADINGS.attachments}\n\n${parts.map(lineOf).join("")}\n`);
  gathered.add(parts.filter(({ isShown }) => !isShown));
  const sealed = parts.filter(({ type }) => /^application\/(?:vnd\.)?ms-tnef$/i.test(type));
  leftOut.add("files of Outlook alone (winmail.dat)", sealed.length);
}

/** The texts of the invitations, equal ones once: a mail often has the same calendar as a file too. */
const invitationsOf = (attachments: Email["attachments"]): ReadonlySet<string> =>
  new Set(
    attachments
      .filter(({ mimeType }) => /^(?:text\/calendar|application\/ics)$/i.test(mimeType))
      .map((part) => invitationText(bytesOf(part)))
      .filter((text) => text !== ""),
  );

/** A line for an attachment: the name that the sender gave it, and its path below the file. */
const lineOf = ({ givenName, name, type, bytes }: AttachedPart): string =>
  `- ${oneLine(givenName === "" ? type : givenName)} (${oneLine(type)}, ${bytes.length} bytes): ${name}\n`;

const TRUNCATED: Readonly<Record<MissingEnd, string>> = {
  boundary: "its last part has no end.",
  encoding: "its text breaks off in the middle of a character.",
  length: "its header counts more than there is.",
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 500);

function headerLines(mail: Email): string[] {
  const { from, to = [], cc = [], date = "" } = mail;
  const members = [
    ["From", addressesOf(from === undefined ? [] : [from])],
    ["To", addressesOf(to)],
    ["Cc", addressesOf(cc)],
    ["Date", date],
  ] as const;
  return members.flatMap(([name, value]) => (value === "" ? [] : [`${name}: ${value}`]));
}

const MOST_ADDRESSES = 100;

const namesOf = (addresses: readonly Address[]): string[] =>
  addresses
    .flatMap((address) => (address.group?.length ? address.group : [address]))
    .slice(0, MOST_ADDRESSES)
    .map(({ name, address = "" }) =>
      // A group without members, such as `undisclosed-recipients:;`, has a name alone.
      oneLine(name === "" || address === "" ? name + address : `${name} <${address}>`),
    );

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

/** The plain text of a mail, or the words of its page, or both if each says something that the other does not. */
function bodyOf({ text = "", html }: Email, leftOut: LeftOutCounter): string {
  const plain = text.replaceAll(/\r{0,3}\n|\r/g, "\n").trimEnd();
  if (html === undefined) return plain;
  const page = htmlText({ html, url: "about:blank", beside: "kept", quote: "> " });
  if (page.kind === "too_deep")
    return plain === "" ? "(a page that is nested too deep to be read)" : plain;
  const chosen = choosePart({ text: plain, page: page.text });
  if (chosen === "text") return plain;
  leftOut.addAll(page.leftOut);
  return chosen === "page" ? page.text : `${plain}\n\n${page.text}`;
}
