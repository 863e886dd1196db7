import type { DoubleModel } from "../../doubles/ollama/double-model.ts";
import type {
  DraftClaim,
  PlannedCall,
  PlannedVerdict,
  Round,
  VerificationCase,
} from "../../corpora/verification/read-cases.ts";
import { readCasePrompt } from "./case-prompts.ts";
import type { CasePrompt, Piece } from "./case-prompts.ts";

const ROOT = "allowed/corpus";

/** Where the documents of a case are. */
export const folderOf = ({ id }: Pick<VerificationCase, "id">): string => `${ROOT}/${id}/`;

/** What nobody has written a reply to. */
export type Unplanned = { readonly id: string; readonly part: string; readonly words: string };

/** A model that takes every part of every case, and replies as the case says: to what it is shown, whenever that is. */
export function caseModel(
  cases: readonly VerificationCase[],
  onUnplanned: (unplanned: Unplanned) => void,
): DoubleModel {
  return {
    name: "cast",
    contextLength: 8_192,
    respond(messages) {
      const prompt = readCasePrompt(messages);
      const one = caseFor(cases, prompt);
      const told = (words: string): void => {
        onUnplanned({ id: one.id, part: prompt.part, words });
      };
      return replyTo(one, prompt, told);
    },
  };
}

function caseFor(cases: readonly VerificationCase[], { words }: CasePrompt): VerificationCase {
  const id = /allowed\/corpus\/([a-z]+-\d{2})\//.exec(words)?.[1];
  const found = cases.find((one) => one.id === id) ?? caseAsked(cases, words);
  if (found === undefined) throw new Error(`no case is shown by: ${words.slice(0, 300)}`);
  return found;
}

/** The question of one case may hold that of another: the longest is meant. */
function caseAsked(
  cases: readonly VerificationCase[],
  words: string,
): VerificationCase | undefined {
  const [found] = cases
    .filter(
      ({ question }) =>
        question !== undefined && words.includes(JSON.stringify(question).slice(1, -1)),
    )
    .sort((a, b) => (b.question ?? "").length - (a.question ?? "").length);
  return found;
}

function replyTo(
  one: VerificationCase,
  prompt: CasePrompt,
  onUnplanned: (words: string) => void,
): string {
  switch (prompt.part) {
    case "first":
      return firstCall(one);
    case "draft":
      return draftReply(draftFor(one, prompt), one, prompt);
    case "look":
      return nextCall(one, prompt, onUnplanned);
    case "decompose": {
      const { decompose } = roundOf(one, prompt);
      return typeof decompose === "string" ? decompose : JSON.stringify({ checks: decompose });
    }
    case "verdict":
      return verdictReply(verdictFor(one, prompt, onUnplanned), one, prompt);
    case "audit": {
      const { audit } = roundOf(one, prompt);
      return typeof audit === "string" ? audit : JSON.stringify(audit);
    }
  }
}

const callText = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });

function firstCall(one: VerificationCase): string {
  const [read] = one.first;
  return read === undefined ? "ENOUGH" : callOf(one, read);
}

function callOf(one: VerificationCase, call: PlannedCall): string {
  if (typeof call !== "string") return callText(call.tool, call.args);
  const path_prefix = folderOf(one);
  const at = call.indexOf(" ");
  const words = call.slice(at + 1);
  switch (call.slice(0, at)) {
    case "read":
      return callText("read_text_file", { path: `${path_prefix}${words}` });
    case "list":
      return callText("list_files", { path_prefix: path_prefix + (words === "." ? "" : words) });
    case "search":
      return callText("search_index", { query: words, path_prefix });
    case "find":
      return callText("search_text", { text: words, path_prefix });
    default:
      throw new Error(`no such call: ${call}`);
  }
}

/** Who is told that something is wrong, by the rules or by a check, puts it right, or insists. */
const draftFor = (one: VerificationCase, { faults }: CasePrompt): readonly DraftClaim[] =>
  (faults === "" ? undefined : one.revised?.draft) ?? one.draft;

/** The round whose statements are shown. */
function roundOf(one: VerificationCase, { statements }: CasePrompt): Round {
  const { revised } = one;
  if (revised === null) return one;
  const before = new Set(one.draft.map(markOf));
  const fresh = revised.draft.map(markOf).filter((mark) => !before.has(mark));
  const isFresh = statements.some((words) => fresh.some((mark) => words.includes(mark)));
  return isFresh ? revised : one;
}

/** What a statement is known by: its words without the stop, or the value of a field. */
const markOf = (claim: DraftClaim): string =>
  "text" in claim
    ? claim.text.replace(/[.!]$/, "")
    : typeof claim.value === "number"
      ? String(claim.value)
      : claim.value;

const roundsOf = (one: VerificationCase): readonly Round[] =>
  one.revised === null ? [one] : [one, one.revised];

/**
 * The verdict on the question that is asked. A rule and the engine ask whether a statement is so, in words that no case has:
 * yes where the auditor of the case holds it, no where it does not.
 */
function verdictFor(
  one: VerificationCase,
  prompt: CasePrompt,
  onUnplanned: (words: string) => void,
): PlannedVerdict {
  const { words, statements } = prompt;
  // The task of the job stands in the prompt, too, and may be worded as a question of the auditor.
  const asked = /yes, no, or can nobody say\? (".*")/.exec(words)?.[1] ?? "";
  for (const { decompose, verdicts } of roundsOf(one)) {
    if (typeof decompose === "string") continue;
    const at = decompose.findIndex(({ question }) =>
      asked.includes(JSON.stringify(question).slice(1, -1)),
    );
    const verdict = verdicts[at];
    if (verdict !== undefined) return verdict;
  }
  const { decompose, verdicts, draft } = roundOf(one, prompt);
  onUnplanned(asked);
  const own = asked.startsWith('"Do the files say this') ? ownVerdict(one, prompt) : undefined;
  if (own !== undefined) return own;
  const number =
    1 + draft.findIndex((claim) => statements.some((text) => text.includes(markOf(claim))));
  if (typeof decompose === "string") return verdicts[number - 1] ?? NOTHING_KNOWN;
  const about = decompose.findIndex(({ claim }) => claim === number);
  const at = about === -1 ? 0 : about;
  const verdict = verdicts[at] ?? NOTHING_KNOWN;
  if (verdict.answer === "unknown") return verdict;
  return { ...verdict, answer: verdict.answer === decompose[at]?.expects ? "yes" : "no" };
}

/** Of a statement that no check of the case is about, whoever is asked finds the words that it gives. */
function ownVerdict(one: VerificationCase, { statements }: CasePrompt): PlannedVerdict | undefined {
  const { decompose, draft } = roundsOf(one).at(-1) ?? one;
  const at = draft.findIndex((claim) => statements.some((text) => text.includes(markOf(claim))));
  const claim = draft[at];
  if (typeof decompose === "string" || claim === undefined || claim.quote === null)
    return undefined;
  if (decompose.some((check) => check.claim === at + 1)) return undefined;
  return {
    calls: [],
    answer: "yes",
    cites: "cites" in claim ? claim.cites : [],
    quote: claim.quote,
  };
}

const NOTHING_KNOWN: PlannedVerdict = { calls: [], answer: "unknown", cites: [], quote: "" };

/** The first call that is planned and was not made yet. */
function nextCall(
  one: VerificationCase,
  prompt: CasePrompt,
  onUnplanned: (words: string) => void,
): string {
  const isCheck = prompt.words.includes(
    "Is the answer to this question yes, no, or can nobody say?",
  );
  const calls = isCheck ? verdictFor(one, prompt, onUnplanned).calls : one.first;
  const next = calls.map((call) => callOf(one, call)).find((call) => !isMade(call, prompt));
  return next ?? "END";
}

/** It stands in the log with its arguments, or as the name of a tool that there is none of. */
function isMade(call: string, { words }: CasePrompt): boolean {
  const { name, args } = JSON.parse(call) as { name: string; args: Record<string, unknown> };
  const values = Object.values(args).map((value) => JSON.stringify(value));
  return words
    .split("\n")
    .filter((line) => /^Step \d+: /.test(line) && line.includes(name))
    .some((line) => !line.includes(`: ${name} {`) || values.every((value) => line.includes(value)));
}

function draftReply(
  draft: readonly DraftClaim[],
  one: VerificationCase,
  { pieces }: CasePrompt,
): string {
  if (one.job === "extract") {
    const fields = draft.flatMap((claim) =>
      "field" in claim ? [[claim.field, { value: claim.value, quote: claim.quote }]] : [],
    );
    return JSON.stringify(Object.fromEntries(fields));
  }
  const claims = draft.flatMap((claim) =>
    "text" in claim
      ? [
          {
            quote: claim.quote,
            text: claim.text,
            ...(one.job === "summarize"
              ? {}
              : { cites: numbersOf(claim.cites, claim.quote, pieces) }),
          },
        ]
      : [],
  );
  return JSON.stringify({ declined: false, missing: null, claims });
}

function verdictReply(
  { answer, cites, quote }: PlannedVerdict,
  { documents }: VerificationCase,
  { pieces }: CasePrompt,
): string {
  const paths = cites.length > 0 ? cites : Object.keys(documents).slice(0, 1);
  return JSON.stringify({
    quote: quote === "" ? null : quote,
    cites: answer === "unknown" ? [] : numbersOf(paths, quote, pieces),
    answer,
  });
}

/** The numbers of pieces of these files: of each the one that holds the quote, else the first. */
function numbersOf(
  paths: readonly string[],
  quote: string | null,
  pieces: readonly Piece[],
): readonly number[] {
  return paths.flatMap((path) => {
    const own = pieces.filter((piece) => piece.path.endsWith(`/${path}`));
    const holding = own.find(({ text }) => quote !== null && text.includes(quote));
    return (holding ?? own[0])?.number ?? [];
  });
}
