import type { EvidenceSpan } from "../../../shared/job/run-result.ts";
import { documentDate } from "../../documents/document-date.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import { gradeClaims } from "../claims/grade.ts";
import { readClaim } from "../claims/pair.ts";
import type { ReadClaim } from "../claims/pair.ts";
import { readPiece } from "../claims/pieces.ts";
import type { ReadUnit } from "../claims/pieces.ts";
import { blockOfPassage, blockOfReading } from "./job-files.ts";
import type { JobFiles } from "./job-files.ts";
import type {
  AnswerToCheck,
  CheckedClaim,
  Disagreement,
  RuleCheck,
  RuleSettings,
} from "./rule-check.ts";
import { findCounterpart } from "./same-thing.ts";
import type { Counterpart } from "./same-thing.ts";
import { compareDates } from "../../../shared/text/date-period.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { namesVersion } from "../../../shared/files/version-family.ts";

/** The checks of a claim against other documents. */
type OtherFindings = {
  readonly checks: readonly RuleCheck[];
  readonly disagreements: readonly Disagreement[];
};

const NOTHING: OtherFindings = { checks: [], disagreements: [] };
const MOST_PASSAGES = 12;
/** A longer document leaves the check open, because the rules for claims would block the thread too long. */
const MOST_CHARS = 24_000;

/**
 * Checks that the newest version of the document that supports a claim says the same. Null where the question names a version.
 */
export async function checkNewest(
  { number, text, claim }: CheckedClaim,
  { task }: Pick<AnswerToCheck, "task">,
  files: JobFiles,
): Promise<RuleCheck | null> {
  const { span } = claim;
  if (span === null || /^https?:/.test(span.path) || namesVersion(task)) return null;
  const [newest] = await files.newer(span.path);
  if (newest === undefined) return null;
  const check = (
    state: RuleCheck["state"],
    detail: string,
    place: readonly EvidenceSpan[] = [],
  ): RuleCheck => ({
    claim: number,
    rule: "newest",
    question: `Does ${newest}, a newer version of ${span.path}, still say: "${text}"?`,
    expects: "yes",
    state,
    detail,
    places: [span, ...place],
  });
  const reading = await files.read(newest);
  await files.pause();
  if (reading.kind === "refused")
    return check("unknown", `${newest} can't be read: ${reading.code}`);
  if (reading.text.length > MOST_CHARS) return check("open", `${newest} is newer, and long.`);
  const block = { ...blockOfReading(reading), number: 1 };
  const [graded] = gradeClaims([{ text, cites: [1] }], [block], { question: task });
  if (graded?.grade === "supported")
    return check("yes", `${newest} says the same`, placesOf(graded.place));
  const { language } = readClaim(task, null);
  const read = readClaim(text, language);
  const carrier = readClaim(claim.carrier ?? "", language);
  const piece = readPiece(block);
  const other = findCounterpart(read, carrier, piece, true);
  if (other === null)
    return check("open", `${newest} is newer, and does not state it in this form`);
  const place = placesOf(piece.placeOf(other.unit.start, other.unit.end));
  if (other.says === "same") return check("yes", `${newest} says the same`, place);
  const detail = `${newest} is newer and says ${other.other.text.trim()}, ${span.path} ${other.own.text.trim()}`;
  return check(other.isCertain ? "no" : "open", detail, place);
}

const placesOf = (place: EvidenceSpan | null): EvidenceSpan[] =>
  place === null ? [] : [{ ...place, number: 0 }];

/** Checks whether other documents state another figure or date of the same thing. */
export async function checkAgreement(
  { number, text, claim }: CheckedClaim,
  { task, claims }: AnswerToCheck,
  files: JobFiles,
  { newestWins }: Pick<RuleSettings, "newestWins">,
): Promise<OtherFindings> {
  const { span, carrier } = claim;
  const { language } = readClaim(task, null);
  const read = readClaim(text, language);
  if (span === null || carrier === null || !read.figures.some(({ isSoft }) => !isSoft))
    return NOTHING;
  // The rule "newest" compares newer versions.
  const newer = await files.newer(span.path);
  const others = (await files.search(queryOf(read), MOST_PASSAGES))
    .filter(
      ({ path, text: of }) =>
        path !== span.path && !newer.includes(path) && of.length <= MOST_CHARS,
    )
    .map(blockOfPassage);
  const found = await findOther(read, readClaim(carrier, language), others, files);
  if (found === null) return NOTHING;
  const { path } = found.block;
  const place = { ...readPiece(found.block).placeOf(found.unit.start, found.unit.end), number: 0 };
  const report = (
    state: RuleCheck["state"],
    detail: string,
    disagreements: readonly Disagreement[] = [],
  ): OtherFindings => {
    const question = `Do other documents agree with ${span.path} that "${text}"?`;
    const places = [span, place];
    const rule = "agreement";
    return {
      checks: [{ claim: number, rule, question, expects: "yes", state, detail, places }],
      disagreements,
    };
  };
  if (found.says === "same") return report("yes", `${path} says the same`);
  const [own, another] = [found.own.text.trim(), found.other.text.trim()];
  const said = `${another} in ${path}, ${own} in ${span.path}`;
  if ((await files.newer(path)).includes(span.path))
    return report("yes", `${said}; ${path} is an older version`);
  if (!found.isCertain) return report("open", said);
  const cited = { path: span.path, text: carrier, span, date: await dateOf(span.path, files) };
  const other = { path, text: found.unit.text, span: place, date: await dateOf(path, files) };
  const byDate = compareDates(cited.date, other.date);
  const winner = byDate === 1 ? "cited" : byDate === -1 ? "other" : null;
  const what = `${own} against ${another}`;
  const disagreement = { claim: number, what, cited, other, newer: winner } as const;
  const isShown = claims.some(
    (one) =>
      one.number !== number &&
      readClaim(one.text, language).figures.some(({ asks }) =>
        asks.some((ask) => found.other.offers.includes(ask)),
      ),
  );
  if (isShown) return report("yes", `${said}; the answer shows both`, [disagreement]);
  const newest = winner === "cited" ? span.path : path;
  const named = newestWins && winner !== null ? `; ${newest} is newer` : "";
  const isRight = newestWins && winner === "cited";
  return report(isRight ? "yes" : "no", said + named, [disagreement]);
}

const queryOf = ({ names, content }: ReadClaim): string =>
  [
    ...new Set([
      ...names.map(({ text }) => text),
      ...content.filter(({ isLight }) => !isLight).map(({ word }) => word),
    ]),
  ].join(" ");

async function findOther(
  claim: ReadClaim,
  carrier: ReadClaim,
  blocks: readonly CitableBlock[],
  files: JobFiles,
): Promise<(Counterpart & { readonly block: CitableBlock }) | null> {
  const found: (Counterpart & { readonly block: CitableBlock })[] = [];
  for (const block of blocks) {
    await files.pause();
    const counterpart = findCounterpart(claim, carrier, readPiece(block), false);
    if (counterpart !== null) found.push({ ...counterpart, block });
  }
  const others = found.filter(({ says }) => says === "another");
  return others.find(({ isCertain }) => isCertain) ?? others[0] ?? found[0] ?? null;
}

async function dateOf(path: string, files: JobFiles): Promise<string | null> {
  const reading = await files.read(path);
  return documentDate(path, reading.kind === "refused" ? "" : reading.text);
}

const ONLY =
  /(?<!\p{L})(?:(?:the|its|our|their) (?:only|single|sole)|(?:der|die|das|den|dem) einzige[nrs]?|einzige[rs]?|(?:le|la|les) seule?s?|l['’]unique|(?:el|la|los|las) únic[oa]s?)(?!\p{L})|唯一/iu;

/** Checks a claim with "the only": no other document may say it of something else, as far as rules can decide. */
export async function checkUniqueness(
  { number, text, claim }: CheckedClaim,
  { task }: Pick<AnswerToCheck, "task">,
  files: JobFiles,
): Promise<RuleCheck | null> {
  if (!ONLY.test(text)) return null;
  const read = readClaim(text, readClaim(task, null).language);
  const passages = await files.search(queryOf(read), MOST_PASSAGES);
  const blocks = passages
    .filter(({ path, text: of }) => path !== claim.span?.path && of.length <= MOST_CHARS)
    .map(blockOfPassage);
  const rival = findRival(read, blocks);
  await files.pause();
  const isSaid = claim.grade !== "unsupported" && ONLY.test(claim.carrier ?? "");
  const question = `Is there no other: "${text}"?`;
  const check = { claim: number, rule: "uniqueness", question, expects: "yes" } as const;
  const places = claim.span === null ? [] : [claim.span];
  if (rival === undefined) {
    const detail = isSaid
      ? "Its sentence says so, and no other document says it of something else."
      : "No sentence says that it is the only one.";
    return { ...check, state: isSaid ? "yes" : "open", detail, places };
  }
  const place = readPiece(rival.block).placeOf(rival.start, rival.end);
  return {
    ...check,
    state: isOfOtherName(read, rival) ? "no" : "open",
    detail: `${rival.block.path} says: ${firstCodePoints(rival.text, 300)}`,
    places: [...places, ...placesOf(place)],
  };
}

/** A unit with "the only" that holds all words of the claim beside its names. */
function findRival(
  { content, names }: ReadClaim,
  blocks: readonly CitableBlock[],
): ReadUnit | undefined {
  const words = content.filter(
    (term) =>
      !term.isLight && !names.some((name) => name.start <= term.start && term.end <= name.end),
  );
  if (words.length < 2) return undefined;
  return blocks
    .flatMap((block) => readPiece(block).units)
    .find((unit) => ONLY.test(unit.text) && words.every(({ stem }) => unit.stems.has(stem)));
}

/** Whether claim and unit both name something, and nothing in common. */
function isOfOtherName(claim: ReadClaim, { text, language, terms }: ReadUnit): boolean {
  const names = claim.names.filter(({ isWeak }) => !isWeak).flatMap(({ words }) => words);
  const isNamed = readClaim(text, language).names.some(({ isWeak }) => !isWeak);
  return (
    isNamed && names.length > 0 && !names.some((word) => terms.some((term) => term.word === word))
  );
}
