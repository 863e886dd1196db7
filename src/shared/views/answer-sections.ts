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

/** An answer as a report lists it, with the equal answers that jobs on copies of its document gave. */
export type ListedAnswer = { readonly answer: JobResult; readonly copies: readonly JobResult[] };

/** The title of the group that a report lists an answer under: the folder of its file, else the kind of job. */
export function folderOf({ kind, input }: JobResult): string {
  const path = input["path"];
  if (typeof path !== "string") return kind === "ask" ? "Questions" : `Jobs of kind ${kind}`;
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "The work root";
}

/** Folds answers of copies of a document that are equal: they are listed once, where the first of them stands. */
export function foldCopies(answers: readonly JobResult[]): readonly ListedAnswer[] {
  const listed: { readonly answer: JobResult; readonly copies: JobResult[] }[] = [];
  for (const answer of answers) {
    const first = listed.find((earlier) => isSameOfCopy(earlier.answer, answer));
    if (first === undefined) listed.push({ answer, copies: [] });
    else first.copies.push(answer);
  }
  return listed;
}

/** Whether the other job asked the same of a copy and has the same result. A question has no document, and is never folded. */
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
 * The section of one job: the task, the answer with its evidence, or why there is no answer. With `full` its title is the
 * custom_id and nothing is left out; with any other extent its title is the task, and texts are cut to the lengths of a report.
 */
export function answerSection(
  answer: JobResult,
  extent: Extent,
  copies: readonly JobResult[] = [],
): Section {
  const { job_id: jobId, custom_id: id, kind, state, input, scope } = answer;
  const task = formatTask(kind, input);
  const isFull = extent === "full";
  const { text, isCut } = answerText(answer, extent);
  const items = evidenceItems(answer, extent);
  return {
    kind: "section",
    id: jobId,
    title: isFull || task === "" ? id : task,
    jobId,
    blocks: [
      ...(isFull
        ? [{ kind: "line", text: `${kind}, ${state}${task === "" ? "" : `: ${task}`}` } as const]
        : kindBlocks(answer, task)),
      ...(copies.length === 0 ? [] : [note(copiesText(copies))]),
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

/** The kind and id of a job; for a summary or a question nothing, unless its id differs from its task. */
function kindBlocks({ kind, custom_id: id }: JobResult, task: string): readonly Block[] {
  if (task !== "" && task !== id) return [note([`${kind}, `, code(id)])];
  return kind === "summarize" || kind === "ask" ? [] : [note(kind)];
}

const note = (text: Text): Block => ({ kind: "note", text });

const quote = (text: string) => ({ kind: "quote", text }) as const;

const listOf = (label: string, items: readonly Item[]): readonly Block[] =>
  items.length === 0 ? [] : [{ kind: "list", label, items }];

/** The answer without its scope footer, which is a block of its own. */
function answerText(
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

/** Where the copies lie that share one listed answer: `Also in: b.eml, c.eml`. */
function copiesText(copies: readonly JobResult[]): string {
  const named = copies.slice(0, MOST_COPIES).map(({ custom_id: id, kind, input }) => {
    const path = formatTask(kind, input);
    return path === id ? path : `${path} (${id})`;
  });
  const more = copies.length - named.length;
  return `Also in: ${named.join(", ")}${more > 0 ? `, and ${formatCount(more)} more` : ""}`;
}

/** The structured fields of an answer. A digest has none here: its text already says what it left out. */
function fieldsOf(answer: JobResult, extent: Extent): readonly Block[] {
  const { job_id: jobId, summary, kind, bindings } = answer;
  if (summary === null || kind === "digest") return [];
  if (extent === "full") {
    const facts = fieldFacts(summary);
    return facts.length === 0 ? [] : [{ kind: "facts", facts }];
  }
  const shown = bindings.slice(0, SHOWN_OF_ANSWER.bindings);
  const isCut = shown.length < bindings.length || isCutField(summary);
  const all = code(`nightdesk runs show ${jobId}`);
  return [...fieldBlocks(summary, shown), ...(isCut ? [note(["… and more: ", all])] : [])];
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
 * The evidence of an answer: its citations in the order of their numbers, or every piece that was read when it cites
 * nothing. `full` appends the other pieces that the job was given; any other extent appends only their count.
 */
function evidenceItems(answer: JobResult, extent: Extent): readonly Item[] {
  const { evidence, evidence_count: pieces } = answer;
  const cited = new Map<string, Item>();
  const found = new Set<EvidenceOfResult>();
  for (const citation of byNumber(answer.citations ?? [])) {
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
  const shown = [...dropRepeatedAnchors([...cited.values()]), ...others];
  const more = pieces - found.size - others.length;
  return more > 0 && shown.length > 0
    ? [...shown, { text: `and ${formatCount(more)} more that it was given` }]
    : shown;
}

const byNumber = (citations: readonly StoredCitation[]): readonly StoredCitation[] =>
  citations.toSorted((one, other) => (one.number ?? 0) - (other.number ?? 0));

/** A citation without a piece: a job that a digest cites; with `full` also a number that stands for nothing that was read. */
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

/** A cited piece under its number, with the words of its lines, and with the anchor that the number in the answer links to. */
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
  // A caller that did not load passages shows no words here: the reader opens the file.
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

/** The item of a piece. It shows the hash of the file unless the footer of the answer does. */
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

/** Only a number that occurs in the text of the answer gets an anchor, so that links lead both ways. */
const anchorOf = (
  { job_id: jobId, answer: text }: JobResult,
  number: number | null | undefined,
): Pick<Item, "anchor"> =>
  typeof number === "number" && (text ?? "").includes(`[${number}]`)
    ? { anchor: `cited-${jobId}-${number}` }
    : {};

/** Keeps an anchor on the first of several items that share it. */
function dropRepeatedAnchors(items: readonly Item[]): readonly Item[] {
  const used = new Set<string | undefined>();
  return items.map((item) => {
    const { anchor, ...rest } = item;
    if (anchor === undefined || used.has(anchor)) return rest;
    used.add(anchor);
    return item;
  });
}

/** The marks of an answer, each with the anchor of the item that explains it; the first item, if several share a number. */
const marksOf = (items: readonly Item[]): readonly Mark[] =>
  items.flatMap(({ mark, anchor }) =>
    mark === undefined || anchor === undefined ? [] : [{ mark, anchor }],
  );

const markOf = (number: number | null | undefined) =>
  typeof number === "number" ? { mark: `[${number}]` } : {};

/** The steps of an investigation, one a line, followed by the outputs whose texts were requested. */
const stepBlocksOf = (steps: readonly StepRow[]): readonly Block[] =>
  steps.length === 0
    ? []
    : [
        { kind: "line", text: stepsSummary(steps) },
        ...listOf(
          "Steps",
          steps.map((step) => ({ text: stepText(step) })),
        ),
        ...steps.flatMap(outputBlocks),
      ];

const outputBlocks = ({ ordinal, outputs }: StepRow): readonly Block[] =>
  outputs.flatMap(({ stream, text }) =>
    text === undefined
      ? []
      : [{ kind: "line" as const, text: `Step ${ordinal}, ${stream}:` }, quote(text)],
  );
