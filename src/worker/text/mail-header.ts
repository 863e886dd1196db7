/** The header of a mail that was saved as text: the members that say who wrote to whom, when and about what. */
export type MailHeader = {
  /** How many lines it takes, with its title and the blank line behind it. */
  readonly lines: number;
  /** What the mail is about, where that stands before its header, as in the text of an `.eml`. */
  readonly title: string | null;
  /** Its members in order, a continued one in one line. */
  readonly members: readonly { readonly name: string; readonly value: string }[];
};

const NONE: MailHeader = { lines: 0, title: null, members: [] };

/** Names of members: of who wrote a mail, and of whom it is to. */
export const SENDER = /^(?:from|sender|von|absender|de|expéditeur|remitente)$/iu;
export const RECIPIENT = /^(?:to|an|à|para)$/iu;
export const SUBJECT = /^(?:subject|betreff|objet|asunto)$/iu;
const ABOUT =
  /^(?:to|subject|date|sent|an|betreff|datum|gesendet|à|objet|envoyé|para|asunto|fecha|enviado)$/iu;
const MEMBER = /^(\p{Lu}[\p{L}-]{0,30}|CC|BCC)[ \t]?:[ \t]+(\S.*)$/u;
const MOST_LINES = 60;

/**
 * Reads the header that begins at a line of a text, or behind a title there. It takes a member that names the sender and one
 * more that a mail has: notes that open with "Place: …" have none.
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

/** What the mail is about; null where its header does not say. */
export const subjectOf = ({ title, members }: MailHeader): string | null =>
  title ?? members.find(({ name }) => SUBJECT.test(name))?.value ?? null;

/** Headings in the text of a mail that Nightdesk reads: of who wrote it, and of what came with it. */
export const MAIL_HEADINGS = {
  signature: "Signature",
  attachments: "Attachments",
} as const;
