/** The header of a mail that was saved as text: the members that say who wrote to whom, when and about what. */
export type MailHeader = {
  /** How many lines it takes, with the blank line behind it. */
  readonly lines: number;
  /** Its members in order, a continued one in one line. */
  readonly members: readonly { readonly name: string; readonly value: string }[];
};

const NONE: MailHeader = { lines: 0, members: [] };

const SENDER = /^(?:from|sender|von|absender|de|expéditeur|remitente)$/iu;
const ABOUT =
  /^(?:to|subject|date|sent|an|betreff|datum|gesendet|à|objet|envoyé|para|asunto|fecha|enviado)$/iu;
const MEMBER = /^(\p{Lu}[\p{L}-]{0,30}|CC|BCC)[ \t]?:[ \t]+(\S.*)$/u;
const MOST_LINES = 60;

/**
 * Reads the header that a text begins with. It takes a member that names the sender and one more that a mail has: notes that
 * open with "Place: …" have none.
 */
export function parseMailHeader(lines: readonly string[]): MailHeader {
  const members: { name: string; value: string }[] = [];
  let at = 0;
  for (; at < Math.min(lines.length, MOST_LINES); at += 1) {
    const line = lines[at] ?? "";
    const [, name, value] = MEMBER.exec(at === 0 ? line.replace(/^\uFEFF/, "") : line) ?? [];
    const last = members.at(-1);
    if (name !== undefined && value !== undefined) members.push({ name, value: value.trim() });
    else if (last !== undefined && /^[ \t]+\S/.test(line)) last.value += ` ${line.trim()}`;
    else break;
  }
  const isMail =
    members.some(({ name }) => SENDER.test(name)) && members.some(({ name }) => ABOUT.test(name));
  if (!isMail || (at < lines.length && (lines[at] ?? "").trim() !== "")) return NONE;
  return { lines: Math.min(lines.length, at + 1), members };
}

/** What the mail is about; null where its header does not say. */
export const subjectOf = ({ members }: MailHeader): string | null =>
  members.find(({ name }) => /^(?:subject|betreff|objet|asunto)$/iu.test(name))?.value ?? null;
