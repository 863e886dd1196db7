import { isDeepStrictEqual } from "node:util";
import { formatTask } from "../kinds.ts";
import { claimBlocks, leftOutBlocks, placesOfPiece } from "./claims.ts";
import { formatCount } from "./quantity.ts";
import { fieldBlocks, isCutField } from "./field-blocks.ts";
import { MOST_BINDINGS } from "./report-rows.ts";
import type { AnswerRow } from "./report-rows.ts";
import type { JobResult, StoredCitation } from "./results.ts";
import { code, fact, strong } from "./section.ts";
import { stepsSummary, stepText } from "./steps.ts";
import type { StepRow } from "./steps.ts";
import type { Block, Fact, Item, LineRange, Mark, Piece, Section, Text } from "./section.ts";

/** A job under its custom_id: what was asked, the answer and what it rests on, or why there is none. */
export function jobSection(result: JobResult): Section {
  const { job_id: jobId, custom_id: id, kind, state, input, answer, summary } = result;
  const task = formatTask(kind, input);
  return {
    kind: "section",
    id: jobId,
    title: id,
    jobId,
    blocks: [
      { kind: "line", text: `${kind}, ${state}${task === "" ? "" : `: ${task}`}` },
      ...(answer === null ? [] : [quote(answer)]),
      // What a digest had to leave out stands in its answer.
      ...(summary === null || kind === "digest" ? [] : factsBlock(fieldFacts(summary))),
      ...claimBlocks(result.claims),
      ...leftOutBlocks(result.claims_left_out),
      ...problemBlocks(result),
      ...listOf("Citations", (result.citations ?? []).flatMap(numberedItem(result))),
      ...listOf("Evidence", result.evidence.map(evidenceItem)),
      ...stepBlocksOf(result.steps),
    ],
  };
}

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

const quote = (text: string) => ({ kind: "quote", text }) as const;

const factsBlock = (facts: readonly Fact[]): readonly Block[] =>
  facts.length === 0 ? [] : [{ kind: "facts", facts }];

const listOf = (label: string, items: readonly Item[]): readonly Block[] =>
  items.length === 0 ? [] : [{ kind: "list", label, items }];

const problemBlocks = ({
  error_code: name,
  error_message: message,
}: JobResult): readonly Block[] =>
  name === null ? [] : [{ kind: "line", text: [strong(name), ` ${message ?? ""}`] }];

/** What a number in an answer stands for: lines of a file, or the job whose answer a digest tells of. */
const numberedItem =
  ({ evidence, claims }: Pick<JobResult, "evidence" | "claims">) =>
  (citation: StoredCitation): readonly Item[] => {
    const { number } = citation;
    if (typeof number !== "number") return [];
    const text = [citedText(citation, evidence), placesOfPiece(number, claims)].flat();
    return [{ mark: `[${number}]`, text }];
  };

type ReadPiece = Pick<JobResult["evidence"][number], "kind" | "path">;

function citedText(
  { path, jobId, lineStart, lineEnd, resolved }: StoredCitation,
  evidence: readonly ReadPiece[],
): Text {
  if (resolved === false) return `${path}, which stands for nothing that was read`;
  if (typeof jobId === "string") return childText(path, jobId);
  if (typeof lineStart !== "number" || typeof lineEnd !== "number") return path;
  const kind = evidence.find((piece) => piece.path === path)?.kind ?? "file";
  return placeText({ kind, path, line_start: lineStart, line_end: lineEnd });
}

/** What a tool printed has lines, and no file that they could be looked up in. */
function placeText({ kind, path, line_start, line_end }: ReadPiece & LineRange): Piece {
  if (kind !== "output") return { kind: "place", path, line_start, line_end };
  return `${path}, ${line_start === line_end ? `line ${line_start}` : `lines ${line_start}-${line_end}`}`;
}

const childText = (path: string, jobId: string): Text => [
  `${path}, job `,
  { kind: "id", of: "job", id: jobId },
];

const evidenceItem = (piece: ReadPiece & LineRange & { readonly sha256: string }): Item => ({
  text: [placeText(piece), ", ", { kind: "sha256", sha256: piece.sha256 }],
});

/** What an answer has beside words, a fact a field: texts as they are, lists item by item, anything else as JSON. */
export const fieldFacts = (output: Readonly<Record<string, unknown>>): readonly Fact[] =>
  Object.entries(output).map(([name, value]) =>
    Array.isArray(value)
      ? fact(name, String(value.length), ...value.map((item) => JSON.stringify(item)))
      : fact(name, typeof value === "string" ? value : JSON.stringify(value)),
  );

/** An answer as a report lists it, with the same answers of copies of its document. */
export type ListedAnswer = { readonly answer: AnswerRow; readonly copies: readonly AnswerRow[] };

/** The folder of its file; what has none is under what it is. */
export function folderOf({ kind, input }: AnswerRow): string {
  const path = input["path"];
  if (typeof path !== "string") return kind === "ask" ? "Questions" : `Jobs of kind ${kind}`;
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "The work root";
}

/** Copies of a document that came to the same are listed once, where the first of them stands. */
export function foldCopies(answers: readonly AnswerRow[]): readonly ListedAnswer[] {
  const listed: { readonly answer: AnswerRow; readonly copies: AnswerRow[] }[] = [];
  for (const answer of answers) {
    const first = listed.find((earlier) => isSameOfCopy(earlier.answer, answer));
    if (first === undefined) listed.push({ answer, copies: [] });
    else first.copies.push(answer);
  }
  return listed;
}

/** The same asked of a copy, with the same result. A question has no document, and is never folded. */
const isSameOfCopy = (one: AnswerRow, other: AnswerRow): boolean =>
  typeof one.input["path"] === "string" &&
  one.evidence.length > 0 &&
  one.evidence.length === other.evidence.length &&
  one.evidence.every((piece, at) => isCopy(piece, other.evidence[at] ?? piece)) &&
  isDeepStrictEqual(resultOf(one), resultOf(other));

const resultOf = ({ kind, input, answer, scope, output, pieces, is_cut }: AnswerRow) => ({
  ...{ kind, answer, scope, output, pieces, is_cut },
  input: { ...input, path: null },
});

type CopiedSpan = Pick<
  JobResult["evidence"][number],
  "path" | "sha256" | "start_char" | "end_char"
>;

/** The same span of the same bytes, under another path. */
export const isCopy = (one: CopiedSpan, other: CopiedSpan): boolean =>
  one.path !== other.path &&
  one.sha256 === other.sha256 &&
  one.start_char === other.start_char &&
  one.end_char === other.end_char;

/** An answer in a report, as much of it as is shown there. */
export function answerSection({ answer, copies }: ListedAnswer): Section {
  const { job_id: jobId, custom_id: id, kind, input, scope, is_cut: isCut } = answer;
  const task = formatTask(kind, input);
  const text = textWithoutFooter(answer);
  const also = copies.length === 0 ? [] : [note(alsoIn(copies))];
  const items = citedItems(answer);
  return {
    kind: "section",
    id: jobId,
    title: task === "" ? id : task,
    jobId,
    blocks: [
      note(task === "" || task === id ? kind : [`${kind}, `, code(id)]),
      ...also,
      ...(text === ""
        ? []
        : [{ ...quote(`${text}${isCut ? " …" : ""}`), marks: marksOf(items) } as const]),
      ...(isCut ? [note(["Cut here; all of it: ", code(`nightdesk runs show ${jobId}`)])] : []),
      ...claimBlocks(answer.claims, answer.claims_count),
      ...leftOutBlocks(answer.claims_left_out),
      ...shownFields(answer),
      ...(scope === null ? [] : [note(scope)]),
      ...listOf("Evidence", items),
      ...listOf("Answers that it is of", childItems(answer)),
    ],
  };
}

const note = (text: Text): Block => ({ kind: "note", text });

/** The footer is shown apart. */
function textWithoutFooter({ answer: text, scope, is_cut: isCut }: AnswerRow): string {
  if (text === null) return "";
  const isWhole = !isCut && scope !== null && text.endsWith(scope);
  return (isWhole ? text.slice(0, -scope.length) : text).trim();
}

const MOST_COPIES = 20;

/** Where else a document lies whose answer is listed once: `Also in: b.eml, c.eml`. */
function alsoIn(copies: readonly AnswerRow[]): string {
  const named = copies.slice(0, MOST_COPIES).map(({ custom_id: id, kind, input }) => {
    const path = formatTask(kind, input);
    return path === id ? path : `${path} (${id})`;
  });
  const more = copies.length - named.length;
  return `Also in: ${named.join(", ")}${more > 0 ? `, and ${formatCount(more)} more` : ""}`;
}

function shownFields(answer: AnswerRow): readonly Block[] {
  const { job_id: jobId, output, kind, bindings } = answer;
  if (output === null || kind === "digest") return [];
  const isCut = bindings.length === MOST_BINDINGS || isCutField(output);
  const all = code(`nightdesk runs show ${jobId}`);
  return [...fieldBlocks(output, bindings), ...(isCut ? [note(["… and more: ", all])] : [])];
}

/** What an answer rests on: what it cites, in the order of the numbers, or all that was read where it cites nothing. */
function citedItems(answer: AnswerRow): readonly Item[] {
  const { citations, evidence, pieces } = answer;
  const cited = new Map<string, Item & { readonly number: number }>();
  const found = new Set<AnswerRow["evidence"][number]>();
  for (const citation of citations) {
    const { path, chunkKey, number } = citation;
    const piece = evidence.find(
      (candidate) => candidate.path === path && candidate.chunk_key === (chunkKey ?? null),
    );
    if (piece === undefined) continue;
    found.add(piece);
    const item = citedItem(answer, piece, citation);
    cited.set(`${number ?? ""} ${path} ${citation.lineStart ?? piece.line_start}`, {
      ...item,
      number: number ?? 0,
    });
  }
  const shown =
    cited.size > 0
      ? anchoredOnce([...cited.values()].sort((a, b) => a.number - b.number))
      : evidence.map((piece) => passageItem(piece, piece.passage));
  const more = pieces - (cited.size > 0 ? found.size : evidence.length);
  const left =
    more > 0 && shown.length > 0
      ? [{ text: `and ${formatCount(more)} more that it was given` }]
      : [];
  return [...shown, ...left];
}

type ShownPiece = AnswerRow["evidence"][number];

/** A piece under its number, with the words that stand there, and as what the number in the answer leads to. */
function citedItem(answer: AnswerRow, piece: ShownPiece, citation: StoredCitation): Item {
  const { number, lineStart, lineEnd, quote: quoted } = citation;
  const lines = {
    line_start: lineStart ?? piece.line_start,
    line_end: lineEnd ?? piece.line_end,
  };
  const carriers = answer.claims.filter(
    ({ cites, quote: words }) => words !== null && cites.includes(number ?? -1),
  );
  const carried = [...new Set(carriers.map(({ quote: words }) => words))].join("\n…\n");
  const passage = piece.passage || carried || (quoted ?? "");
  return {
    ...passageItem({ ...piece, ...lines }, passage, placesOfPiece(number, answer.claims)),
    ...markOf(number),
    ...anchorOf(answer, number),
  };
}

const passageItem = (piece: ShownPiece, passage: string, places = ""): Item => ({
  text: [
    passage === "" ? placeText(piece) : withWords(placeText(piece), passage),
    places,
    ", ",
    { kind: "sha256", sha256: piece.sha256 },
  ],
  ...(passage === "" ? {} : { passage }),
});

const withWords = (place: Piece, words: string): Piece =>
  typeof place !== "string" && place.kind === "place" ? { ...place, words } : place;

/** Only a number that the answer has can be led to from there, and lead back. */
const anchorOf = (
  { job_id: jobId, answer: text }: AnswerRow,
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

/** The jobs that the lines of a digest cite, in the order of the numbers. */
const childItems = ({ citations }: AnswerRow): readonly Item[] =>
  citations
    .flatMap(({ number, path, jobId }) =>
      typeof jobId === "string"
        ? [{ order: number ?? 0, ...markOf(number), text: childText(path, jobId) }]
        : [],
    )
    .sort((a, b) => a.order - b.order);
