/** The header of a mail that was saved as text: its members say who wrote to whom, when and about what. */
export type MailHeader = {
  /** How many lines it takes, with its title and the blank line behind it. */
  readonly lines: number;
  /** Subject of the mail, if it stands as a title before the header, as in the text of an `.eml`; else null. */
  readonly title: string | null;
  /** Members in order; a folded one is joined to one line. */
  readonly members: readonly { readonly name: string; readonly value: string }[];
};

const NONE: MailHeader = { lines: 0, title: null, members: [] };

/** Names of the members for the sender, the recipient and the subject, in several languages. */
export const SENDER = /^(?:from|sender|von|absender|de|expéditeur|remitente)$/iu;
export const RECIPIENT = /^(?:to|an|à|para)$/iu;
export const SUBJECT = /^(?:subject|betreff|objet|asunto)$/iu;
const ABOUT =
  /^(?:to|subject|date|sent|an|betreff|datum|gesendet|à|objet|envoyé|para|asunto|fecha|enviado)$/iu;
const MEMBER = /^(\p{Lu}[\p{L}-]{0,30}|CC|BCC)[ \t]?:[ \t]+(\S.*)$/u;
const MOST_LINES = 60;

/**
 * Reads the header that begins at a line, perhaps behind a title. A header needs a member for the sender and one more usual
 * member of mails, so that notes that begin with "Place: …" have none; then `lines` is 0.
 */
export function parseMailHeader(lines: readonly string[], from = 0): MailHeader {
  const title = TITLE.exec(lineAt(lines, from))?.[1] ?? null;
  if (title !== null && lineAt(lines, from + 1).trim() !== "") return NONE;
  const start = title === null ? from : from + 2;
  const members: { name: string; value: string }[] = [];
  let at = start;
  for (; at < Math.min(lines.length, start + MOST_LINES); at += 1) {
    const line = lineAt(lines, at);
    const [, name, value] = MEMBER.exec(line) ?? [];
    const last = members.at(-1);
    if (name !== undefined && value !== undefined) members.push({ name, value: value.trim() });
    else if (last !== undefined && /^[ \t]+\S/.test(line)) last.value += ` ${line.trim()}`;
    else break;
  }
  const isMail =
    members.some(({ name }) => SENDER.test(name)) && members.some(({ name }) => ABOUT.test(name));
  if (!isMail || lineAt(lines, at).trim() !== "") return NONE;
  return { lines: Math.min(lines.length, at + 1) - from, title, members };
}

const TITLE = /^# (\S.*)$/u;

const lineAt = (lines: readonly string[], at: number): string => {
  const line = lines[at] ?? "";
  return at === 0 ? line.replace(/^\uFEFF/, "") : line;
};

/** The subject of the mail; null if its header has none. */
export const subjectOf = ({ title, members }: MailHeader): string | null =>
  title ?? members.find(({ name }) => SUBJECT.test(name))?.value ?? null;

/** Headings that the reader writes into the text of a mail, before its signature and its attachments. */
export const MAIL_HEADINGS = {
  signature: "Signature",
  attachments: "Attachments",
} as const;
