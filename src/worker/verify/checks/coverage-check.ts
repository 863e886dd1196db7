import { languageOf } from "../../text/detect-language.ts";
import { openWordScan, slicesOf } from "./word-scan.ts";
import type { WordScan } from "./word-scan.ts";
import type { JobFiles } from "./job-files.ts";
import { findMemberSet } from "./member-set.ts";
import { readClaim } from "../claims/pair.ts";
import { areRelated } from "../claims/terms.ts";
import type { Term } from "../claims/terms.ts";
import { findNegative } from "./negative-claims.ts";
import type { NegativeClaim } from "./negative-claims.ts";
import type {
  AnswerToCheck,
  CheckedClaim,
  Coverage,
  RuleCheck,
  RuleSettings,
} from "./rule-check.ts";

/**
 * Reads all members of the set that a negative claim is about. A member without the claim's words does not contradict it; a
 * member with some of them is a candidate that a person or a model must look at. Null for a claim that is not negative.
 */
export async function checkCoverage(
  checked: CheckedClaim,
  { task, evidence }: Pick<AnswerToCheck, "task" | "evidence">,
  files: JobFiles,
  { negative: mode, mostMembers }: Pick<RuleSettings, "negative" | "mostMembers">,
): Promise<{ readonly check: RuleCheck; readonly coverage: Coverage } | null> {
  if (mode === "off") return null;
  const negative = findNegative(task, checked.claim, mode);
  if (negative === null) return null;
  const cited = evidence
    .filter(({ number, isOutput }) => checked.claim.cites.includes(number) && isOutput !== true)
    .map(({ path }) => path);
  const asked = readClaim(task, null);
  const names = [
    ...(negative.head === null ? [] : [negative.head]),
    ...negative.positive,
    ...asked.content,
  ];
  const { language } = negative.read;
  const texts = [task, checked.text];
  const listed = await files.pathsNow();
  const set = findMemberSet(listed.paths, { texts, names, language, cited });
  const positive = positiveWords(negative, set.query, asked.content);
  const scanned = await scanMembers(
    set.paths.slice(0, mostMembers),
    { ...negative, positive },
    files,
  );
  const coverage: Coverage = {
    claim: checked.number,
    setQuery: set.query,
    members: set.paths.length,
    read: scanned.read,
    candidates: scanned.candidates,
  };
  const check = checkOf(checked, coverage, scanned);
  return { check: listed.isWhole ? check : withUnknownState(check), coverage };
}

/** The claim's words without those of the set: "penalty" in "none of the contracts mentions a penalty". */
function positiveWords(
  { positive }: NegativeClaim,
  query: string,
  asked: readonly Term[],
): readonly Term[] {
  const ofSet = readClaim(query, "english").terms.map(({ word }) => word);
  const isOfSet = ({ word, stem }: Term): boolean =>
    ofSet.some((one) => one === word || areRelated(one, stem));
  const own = positive.filter((term) => !isOfSet(term));
  // "No, none of them does.": only the question says what it denies.
  return own.length > 0 ? own : asked.filter((term) => !term.isLight && !isOfSet(term));
}

type MemberScan = {
  readonly read: number;
  readonly candidates: readonly string[];
  /** Paths that could not be read completely. */
  readonly unread: readonly string[];
};

type Member = {
  readonly path: string;
  readonly held: ReadonlySet<number>;
  readonly isForeign: boolean;
};

async function scanMembers(
  paths: readonly string[],
  { read: claim, positive }: NegativeClaim,
  files: JobFiles,
): Promise<MemberScan> {
  const scan = openWordScan(positive, claim.language);
  const members: Member[] = [];
  const unread: string[] = [];
  for (const path of paths) {
    const reading = await files.read(path);
    await files.pause();
    if (reading.kind === "refused" || reading.truncated) {
      unread.push(path);
      continue;
    }
    const language = languageOf(reading.text.slice(0, MOST_LANGUAGE_CHARS), null);
    const isForeign = language !== null && claim.language !== null && language !== claim.language;
    members.push({ path, held: await scanAll(`${path}\n${reading.text}`, scan, files), isForeign });
  }
  // Words can't find what contradicts "no invoice exceeds 5,000 EUR", or what a document says in another language.
  const isMute = positive.length === 0 || claim.figures.some(({ isSoft }) => !isSoft);
  const telling = tellingWords(members, positive.length);
  const candidates = members
    .filter(({ held, isForeign }) => isMute || isForeign || [...held].some((at) => telling.has(at)))
    .map(({ path }) => path);
  return { read: members.length, candidates, unread };
}

const MOST_LANGUAGE_CHARS = 1_200;

async function scanAll(
  text: string,
  scan: WordScan,
  files: JobFiles,
): Promise<ReadonlySet<number>> {
  const held = new Set<number>();
  for (const slice of slicesOf(text)) {
    for (const at of scan(slice)) held.add(at);
    await files.pause();
  }
  return held;
}

/** From this number of members on, a word that nearly all of them hold does not distinguish them. */
const FEWEST_TO_COMPARE = 5;
const MOST_WITH_WORD = 0.8;

/** The words that make a member a candidate: all words, without those that nearly every member holds if others are rarer. */
function tellingWords(members: readonly Member[], count: number): ReadonlySet<number> {
  const all = Array.from({ length: count }, (_, at) => at);
  if (members.length < FEWEST_TO_COMPARE) return new Set(all);
  const rare = all.filter(
    (at) => members.filter(({ held }) => held.has(at)).length <= MOST_WITH_WORD * members.length,
  );
  return new Set(rare.length > 0 ? rare : all);
}

const MOST_NAMED = 5;

function checkOf(
  { number, text }: CheckedClaim,
  { setQuery, members, read, candidates }: Coverage,
  { unread }: MemberScan,
): RuleCheck {
  const isFull = members > 0 && read === members;
  const state = candidates.length > 0 ? "open" : isFull ? "yes" : "unknown";
  const counted = `${read} of ${members} ${setQuery} were read`;
  const missing = unread.length === 0 ? "" : `; not read: ${listOf(unread)}`;
  const held =
    candidates.length === 0
      ? "; none holds its words"
      : `; ${candidates.length} may speak against it: ${listOf(candidates)}`;
  return {
    claim: number,
    rule: "coverage",
    question: `Is it true of all ${members} ${setQuery}: "${text}"?`,
    expects: "yes",
    state,
    detail: `${counted}${missing}${held}`,
    places: [],
  };
}

/** Makes a check unknown where the list of files was cut: nobody can say then that all were read. */
const withUnknownState = (check: RuleCheck): RuleCheck => ({
  ...check,
  state: "unknown",
  detail: `There are more files than are listed, so that they can't be counted; ${check.detail}`,
});

const listOf = (paths: readonly string[]): string =>
  paths.slice(0, MOST_NAMED).join(", ") +
  (paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "");
