import { isDeepStrictEqual } from "node:util";
import { formatTask } from "../job/kinds.ts";
import {
  citedText,
  isCopy,
  isOfPiece,
  outdatedLines,
  placePiece,
  unreadLines,
} from "./citations.ts";
import type { StoredCitation } from "./citations.ts";
import { claimBlocks, leftOutBlocks, placesOfPiece } from "./claims.ts";
import { fieldBlocks, isCutField } from "./field-blocks.ts";
import { formatCount } from "./quantity.ts";
import { SHOWN_OF_ANSWER } from "./results.ts";
import type { JobResult } from "./results.ts";
import { code, fact, strong } from "./section.ts";
import type { Block, Extent, Fact, Item, Mark, Piece, Section, Text } from "./section.ts";
import { stepsSummary, stepText } from "./steps.ts";
import type { StepRow } from "./steps.ts";

/** An answer as a report lists it, with the same answers of copies of its document. */
export type ListedAnswer = { readonly answer: JobResult; readonly copies: readonly JobResult[] };

/** The folder of its file; what has none is under what it is. */
export function folderOf({ kind, input }: JobResult): string {
  const path = input["path"];
  if (typeof path !== "string") return kind === "ask" ? "Questions" : `Jobs of kind ${kind}`;
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "The work root";
}

/** Copies of a document that came to the same are listed once, where the first of them stands. */
export function foldCopies(answers: readonly JobResult[]): readonly ListedAnswer[] {
  const listed: { readonly answer: JobResult; readonly copies: JobResult[] }[] = [];
  for (const answer of answers) {
    const first = listed.find((earlier) => isSameOfCopy(earlier.answer, answer));
    if (first === undefined) listed.push({ answer, copies: [] });
    else first.copies.push(answer);
  }
  return listed;
}

/** The same asked of a copy, with the same result. A question has no document, and is never folded. */
const isSameOfCopy = (one: JobResult, other: JobResult): boolean =>
  typeof one.input["path"] === "string" &&
  one.evidence.length > 0 &&
  one.evidence.length === other.evidence.length &&
  one.evidence.every((piece, at) => isCopy(piece, other.evidence[at] ?? piece)) &&
  isDeepStrictEqual(resultOf(one), resultOf(other));

const resultOf = ({ kind, input, answer, scope, summary, evidence_count }: JobResult) => ({
  ...{ kind, answer, scope, summary, evidence_count },
  input: { ...input, path: null },
});

/**
 * A job: what was asked, the answer and what it rests on, or why there is none. `full` is under its custom_id and leaves
 * nothing out; any other is under what was asked, as much of it as a report shows.
 */
export function answerSection(
  answer: JobResult,
  extent: Extent,
  copies: readonly JobResult[] = [],
): Section {
  const { job_id: jobId, custom_id: id, kind, state, input, scope } = answer;
  const task = formatTask(kind, input);
  const isFull = extent === "full";
  const { text, isCut } = shownText(answer, extent);
  const items = restsOn(answer, extent);
  return {
    kind: "section",
    id: jobId,
    title: isFull || task === "" ? id : task,
    jobId,
    blocks: [
      ...(isFull
        ? [{ kind: "line", text: `${kind}, ${state}${task === "" ? "" : `: ${task}`}` } as const]
        : kindBlocks(answer, task)),
      ...(copies.length === 0 ? [] : [note(alsoIn(copies))]),
      ...(text === ""
        ? []
        : [{ ...quote(`${text}${isCut ? " …" : ""}`), marks: marksOf(items) } as const]),
      ...(isCut ? [note(["Cut here; all of it: ", code(`nightdesk runs show ${jobId}`)])] : []),
      ...fieldsOf(answer, extent),
      ...claimBlocks(answer.claims, answer.claims_count, extent),
      ...(answer.claims.some(({ locator }) => locator?.page !== undefined)
        ? [note(["On their pages: ", code(`nightdesk evidence show ${jobId} --output FILE.html`)])]
        : []),
      ...leftOutBlocks(answer.claims_left_out),
      ...problemBlocks(answer),
      ...(scope === null ? [] : [note(scope)]),
      ...outdatedLines(answer.outdated).map(note),
      ...unreadLines(answer.evidence).map(note),
      ...listOf(kind === "digest" ? "Answers that it is of" : "Evidence", items),
      ...stepBlocksOf(answer.steps),
    ],
  };
}

/** A summary is known by its path, a question by its words: of those nothing is said but an id of their own. */
function kindBlocks({ kind, custom_id: id }: JobResult, task: string): readonly Block[] {
  if (task !== "" && task !== id) return [note([`${kind}, `, code(id)])];
  return kind === "summarize" || kind === "ask" ? [] : [note(kind)];
}

const note = (text: Text): Block => ({ kind: "note", text });

const quote = (text: string) => ({ kind: "quote", text }) as const;

const listOf = (label: string, items: readonly Item[]): readonly Block[] =>
  items.length === 0 ? [] : [{ kind: "list", label, items }];

/** The answer without its footer, which is shown apart. */
function shownText(
  { answer, scope }: JobResult,
  extent: Extent,
): { readonly text: string; readonly isCut: boolean } {
  const chars = Array.from(answer ?? "");
  const isCut = extent !== "full" && chars.length > SHOWN_OF_ANSWER.answerChars;
  const text = isCut ? chars.slice(0, SHOWN_OF_ANSWER.answerChars).join("") : (answer ?? "");
  const isWhole = !isCut && scope !== null && text.endsWith(scope);
  return { text: (isWhole ? text.slice(0, -scope.length) : text).trim(), isCut };
}

const MOST_COPIES = 20;

/** Where else a document lies whose answer is listed once: `Also in: b.eml, c.eml`. */
function alsoIn(copies: readonly JobResult[]): string {
  const named = copies.slice(0, MOST_COPIES).map(({ custom_id: id, kind, input }) => {
    const path = formatTask(kind, input);
    return path === id ? path : `${path} (${id})`;
  });
  const more = copies.length - named.length;
  return `Also in: ${named.join(", ")}${more > 0 ? `, and ${formatCount(more)} more` : ""}`;
}

/** What an answer has beside words. What a digest had to leave out stands in its answer. */
function fieldsOf(answer: JobResult, extent: Extent): readonly Block[] {
  const { job_id: jobId, summary, kind, bindings } = answer;
  if (summary === null || kind === "digest") return [];
  if (extent === "full") {
    const facts = fieldFacts(summary);
    return facts.length === 0 ? [] : [{ kind: "facts", facts }];
  }
  const isCut = bindings.length === SHOWN_OF_ANSWER.bindings || isCutField(summary);
  const all = code(`nightdesk runs show ${jobId}`);
  return [...fieldBlocks(summary, bindings), ...(isCut ? [note(["… and more: ", all])] : [])];
}

/** The fields of an answer, a fact each: texts as they are, lists item by item, anything else as JSON. */
export const fieldFacts = (output: Readonly<Record<string, unknown>>): readonly Fact[] =>
  Object.entries(output).map(([name, value]) =>
    Array.isArray(value)
      ? fact(name, String(value.length), ...value.map((item) => JSON.stringify(item)))
      : fact(name, typeof value === "string" ? value : JSON.stringify(value)),
  );

const problemBlocks = ({
  error_code: name,
  error_message: message,
}: JobResult): readonly Block[] =>
  name === null ? [] : [{ kind: "line", text: [strong(name), ` ${message ?? ""}`] }];

type EvidenceOfResult = JobResult["evidence"][number];

/**
 * What an answer rests on: what it cites, in the order of the numbers, or all that was read where it cites nothing. In full
 * the other pieces that it was given stand behind that, else how many they are.
 */
function restsOn(answer: JobResult, extent: Extent): readonly Item[] {
  const { evidence, evidence_count: pieces } = answer;
  const cited = new Map<string, Item>();
  const found = new Set<EvidenceOfResult>();
  for (const citation of inOrder(answer.citations ?? [])) {
    const piece = evidence.find((candidate) => isOfPiece(citation, candidate));
    const item =
      typeof citation.jobId === "string" || piece === undefined
        ? citationItem(answer, citation, extent)
        : citedItem(answer, piece, citation);
    const { number, path, lineStart } = citation;
    const key = `${number ?? ""} ${path} ${lineStart ?? piece?.line_start ?? ""}`;
    if (item !== undefined) cited.set(key, item);
    if (piece !== undefined) found.add(piece);
  }
  const others = evidence
    .filter((piece) => (cited.size === 0 || extent === "full") && !found.has(piece))
    .map((piece) => passageItem(answer, piece, { passage: piece.passage ?? "", places: "" }));
  const shown = [...anchoredOnce([...cited.values()]), ...others];
  const more = pieces - found.size - others.length;
  return more > 0 && shown.length > 0
    ? [...shown, { text: `and ${formatCount(more)} more that it was given` }]
    : shown;
}

const inOrder = (citations: readonly StoredCitation[]): readonly StoredCitation[] =>
  citations.toSorted((one, other) => (one.number ?? 0) - (other.number ?? 0));

/** What has no piece: the job of a digest; in full also what a number stands for that was not read. */
function citationItem(
  { evidence, claims }: JobResult,
  citation: StoredCitation,
  extent: Extent,
): Item | undefined {
  const { number, jobId } = citation;
  if (typeof jobId !== "string" && (extent !== "full" || typeof number !== "number"))
    return undefined;
  return { ...markOf(number), text: citedText(citation, evidence, claims) };
}

/** A piece under its number, with the words that stand there, and as what the number in the answer leads to. */
function citedItem(answer: JobResult, piece: EvidenceOfResult, citation: StoredCitation): Item {
  const { number, lineStart, lineEnd, quote: quoted } = citation;
  const lines = {
    line_start: lineStart ?? piece.line_start,
    line_end: lineEnd ?? piece.line_end,
  };
  const carriers = answer.claims.filter(
    ({ cites, quote: words }) => words !== null && cites.includes(number ?? -1),
  );
  const carried = [...new Set(carriers.map(({ quote: words }) => words))].join("\n…\n");
  // Where passages are not read, the words are left to whoever opens the file.
  const passage = piece.passage === undefined ? "" : piece.passage || carried || (quoted ?? "");
  return {
    ...passageItem(
      answer,
      { ...piece, ...lines },
      {
        passage,
        places: placesOfPiece(number, answer.claims),
      },
    ),
    ...markOf(number),
    ...anchorOf(answer, number),
  };
}

/** With the hash of its bytes, where the footer of the answer does not say it. */
const passageItem = (
  { scope }: JobResult,
  piece: EvidenceOfResult,
  { passage, places }: { readonly passage: string; readonly places: string },
): Item => ({
  text: [
    passage === "" ? placePiece(piece) : withWords(placePiece(piece), passage),
    places,
    ...(scope?.includes(piece.sha256) === true
      ? []
      : [", ", { kind: "sha256", sha256: piece.sha256 } as const]),
  ],
  ...(passage === "" ? {} : { passage }),
});

const withWords = (place: Piece, words: string): Piece =>
  typeof place !== "string" && place.kind === "place" ? { ...place, words } : place;

/** Only a number that the answer has can be led to from there, and lead back. */
const anchorOf = (
  { job_id: jobId, answer: text }: JobResult,
  number: number | null | undefined,
): Pick<Item, "anchor"> =>
  typeof number === "number" && (text ?? "").includes(`[${number}]`)
    ? { anchor: `cited-${jobId}-${number}` }
    : {};

/** A number may stand for several places: it leads to the first. */
function anchoredOnce(items: readonly Item[]): readonly Item[] {
  const led = new Set<string | undefined>();
  return items.map((item) => {
    const { anchor, ...rest } = item;
    if (anchor === undefined || led.has(anchor)) return rest;
    led.add(anchor);
    return item;
  });
}

/** The numbers of an answer, each with the item that tells what it stands for; of several, the first. */
const marksOf = (items: readonly Item[]): readonly Mark[] =>
  items.flatMap(({ mark, anchor }) =>
    mark === undefined || anchor === undefined ? [] : [{ mark, anchor }],
  );

const markOf = (number: number | null | undefined) =>
  typeof number === "number" ? { mark: `[${number}]` } : {};

/** What an investigation did, a line a step, and behind them what those gave whose texts were asked for. */
const stepBlocksOf = (steps: readonly StepRow[]): readonly Block[] =>
  steps.length === 0
    ? []
    : [
        { kind: "line", text: stepsSummary(steps) },
        ...listOf(
          "Steps",
          steps.map((step) => ({ text: stepText(step) })),
        ),
        ...steps.flatMap(givenBlocks),
      ];

const givenBlocks = ({ ordinal, outputs }: StepRow): readonly Block[] =>
  outputs.flatMap(({ stream, text }) =>
    text === undefined
      ? []
      : [{ kind: "line" as const, text: `Step ${ordinal}, ${stream}:` }, quote(text)],
  );
