import { MAIL_HEADINGS, parseMailHeader, SUBJECT } from "../../text/mail-header.ts";

/** The line before a quotation, in the languages of the programs that write it. */
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Op|Em|Den) .{3,200}(?:wrote|schrieb.*|écrit|escribió|scritto|schreef.*|escreveu|skrev)\s*:$/;
/** A line behind which a program quotes the whole rest, without marks. */
const ORIGINAL =
  /^-{2,} ?(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|Forwarded message|Weitergeleitete Nachricht) ?-{2,}$/i;
/** A rule of underscores: a line of a form, or the one that Outlook puts before the header of a quoted mail. */
const RULE = /^_{20,}$/;
const MEMBER = /^\*?\p{Lu}[\p{L}\p{M} -]{0,20}:\*? ?\S/u;

type Part = "body" | "quoted" | "signature";

const TITLES: Readonly<Record<Part, string>> = {
  body: "Reply",
  quoted: "Quoted",
  signature: MAIL_HEADINGS.signature,
};

/**
 * The text of a mail with headings where a quotation of an earlier mail begins, where the writer goes on below it, and at
 * the signature.
 * @param mark of the headings, such as `###`
 */
export function markQuotes(text: string, mark: string): string {
  const lines = text.split("\n");
  const shown: string[] = [];
  let part: Part = "body";
  let hasRest = false;
  lines.forEach((line, at) => {
    const isRule = RULE.test(line.trim()) && isHeader(lines.slice(at + 1, at + 5));
    const isQuoting = !hasRest && (isRule || isHeaderOfMail(lines, at));
    const next = hasRest ? part : isQuoting ? undefined : partOf(line, lines[at + 1] ?? "", part);
    if (next === undefined) hasRest = true;
    const found = next ?? "quoted";
    if (found !== part && line.trim() !== "") {
      shown.push("", `${mark} ${TITLES[found]}`, "");
      part = found;
    }
    shown.push(line);
  });
  return shown.join("\n");
}

const isHeader = (lines: readonly string[]): boolean =>
  lines.filter((line) => MEMBER.test(line.trim())).length >= 3;

/** Whether the header of a quoted mail begins here: Outlook may write neither marks nor a rule above it. */
function isHeaderOfMail(lines: readonly string[], at: number): boolean {
  if ((lines[at - 1] ?? "").trim() !== "" || !MEMBER.test(lines[at] ?? "")) return false;
  const { members } = parseMailHeader(lines, at);
  return members.length >= 3 && members.some(({ name }) => SUBJECT.test(name));
}

/** The part that a line belongs to; undefined if the whole rest is quoted. */
function partOf(line: string, next: string, part: Part): Part | undefined {
  if (line.length < MOST_CHARS && ORIGINAL.test(line.trim())) return undefined;
  if (line.startsWith(">")) return "quoted";
  const isAttribution = line.length < MOST_CHARS && ATTRIBUTION.test(line.trim());
  if (isAttribution && (next.startsWith(">") || next.trim() === "")) return "quoted";
  if (line === "-- " || line === "--") return "signature";
  return part === "signature" || line.trim() === "" ? part : "body";
}

const MOST_CHARS = 300;
