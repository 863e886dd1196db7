import { foldWords } from "../../text/fold-words.ts";
import { sliceCodePoints } from "../../text/clean-text.ts";
import type { JobFiles } from "./job-files.ts";
import type { AnswerToCheck, CheckedClaim, RuleCheck } from "./rule-check.ts";
import { slicesOf } from "./word-scan.ts";

/** Whether the words that carry a claim still stand in their file as it is now; null where it rests on no file. */
export async function checkPresence(
  { number, text, claim }: CheckedClaim,
  { evidence }: Pick<AnswerToCheck, "evidence">,
  files: JobFiles,
): Promise<RuleCheck | null> {
  const { span, carrier } = claim;
  const block = evidence.find((one) => one.number === span?.number);
  if (span === null || carrier === null || carrier.trim() === "" || block === undefined)
    return null;
  const isFile =
    block.isOutput !== true && block.summaryLevel === null && !/^https?:/.test(span.path);
  if (!isFile) return null;
  const reading = await files.read(span.path);
  await files.pause();
  const check = (state: RuleCheck["state"], detail: string): RuleCheck => ({
    claim: number,
    rule: "presence",
    question: `Does ${span.path} still say what carries "${text}"?`,
    expects: "yes",
    state,
    detail,
    places: [span],
  });
  if (reading.kind === "refused")
    return check("unknown", `${span.path} can't be read: ${reading.code}`);
  const changed = reading.sha256 === block.sha256 ? "" : "; the file has changed since it was read";
  const isThere =
    sliceCodePoints(reading.text, span.startChar, span.endChar).includes(carrier) ||
    reading.text.includes(carrier) ||
    (await holdsFolded(reading.text, carrier, files));
  if (isThere) return check("yes", `It stands in ${span.path}${changed}`);
  const isGone = changed !== "" && !reading.truncated;
  return check(isGone ? "no" : "unknown", `It is not found in ${span.path}${changed}`);
}

const MOST_CARRIER_CHARS = 2_000;

/** Words and marks as quotes are compared, slice by slice; each slice goes on into the next for the length of the carrier. */
async function holdsFolded(text: string, carrier: string, files: JobFiles): Promise<boolean> {
  const wanted = foldedWords(carrier.slice(0, MOST_CARRIER_CHARS));
  let before = "";
  for (const slice of slicesOf(text)) {
    if (foldedWords(before + slice).includes(wanted)) return true;
    before = slice.slice(-2 * MOST_CARRIER_CHARS);
    await files.pause();
  }
  return false;
}

const foldedWords = (text: string): string =>
  ` ${foldWords(text)
    .map((word) => word.text)
    .join(" ")} `;
