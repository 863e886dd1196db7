import { formatLocator } from "../job/locator.ts";
import { cutToColumns } from "../terminal/styled-text.ts";
import { citedText, isOfPiece, placePiece, unreadLines } from "./citations.ts";
import type { StoredCitation } from "./citations.ts";
import { countOf, formatCount, formatDuration } from "./quantity.ts";
import type { RunDetail } from "./runs.ts";
import { fact, fold, joinTexts } from "./section.ts";
import type { Block, Extent, Fact, Item, Text } from "./section.ts";

const MOST_COLUMNS = 300;

/** Text as one line: white space is collapsed, and a long text cut. */
export function oneLine(text: string, extent: Extent): string {
  const line = text.slice(0, extent === "full" ? undefined : 8 * MOST_COLUMNS).replace(/\s+/g, " ");
  return extent === "full" ? line.trim() : cutToColumns(line.trim(), MOST_COLUMNS);
}

type Call = RunDetail["calls"][number];
type Reference = Call["prompt"]["evidence"][number];

/** Each call of a model: the model, its prompt and its reply. */
export function callBlocks(run: RunDetail, extent: Extent): readonly Block[] {
  if (run.calls.length === 0) return [];
  const of = (wanted: Call["origin"]) => run.calls.filter(({ origin }) => origin === wanted).length;
  const taken = [
    ...(of("reused") === 0 ? [] : [`${of("reused")} of them reused from an earlier attempt`]),
    ...(of("cached") === 0 ? [] : [`${of("cached")} of them taken over from other jobs`]),
  ];
  const items = run.calls.map((call, index) => callItem(run, call, index, extent));
  return [
    ...(taken.length === 0
      ? []
      : [
          {
            kind: "line" as const,
            text: `${countOf(run.calls.length, "call")}, ${taken.join(", ")}`,
          },
        ]),
    { kind: "list", ...fold(items, extent, "call"), markColumns: 4 },
  ];
}

function callItem(run: RunDetail, call: Call, index: number, extent: Extent): Item {
  const { prompt } = call;
  return {
    mark: String(index + 1).padStart(3),
    text: formatCall(run, call),
    facts: [
      fact("prompt", `${call.prompt_template}, sha256 ${call.prompt_sha256}`),
      ...valueFacts(run, call, extent),
      ...(prompt.evidence.length === 0
        ? []
        : [fact("shows", formatReferences(run, prompt.evidence))]),
      ...(prompt.violations.length === 0
        ? []
        : [fact("corrects", `${prompt.violations.join(", ")} of the reply before`)]),
      fact("request", `sha256 ${call.request_sha256}`),
      ...replyFacts(call, extent),
    ],
  };
}

function formatCall(run: RunDetail, call: Call): string {
  const tokens = `${formatCount(call.prompt_tokens)} + ${formatCount(call.completion_tokens)} tokens`;
  const load = call.load_ms < 1 ? "" : `, ${formatDuration(call.load_ms)} of it loading`;
  return `${call.pass.padEnd(6)} ${call.model}, ${formatDuration(call.duration_ms)}${load}, ${tokens}${formatOrigin(run, call)}`;
}

function formatOrigin(run: RunDetail, call: Call): string {
  switch (call.origin) {
    case "asked":
      return call.run_id === run.run_id ? "" : `, by run ${call.run_id}`;
    case "reused":
      return `, reused: run ${call.run_id} asked it at ${call.created_at}`;
    case "cached":
      return `, cached: run ${String(call.cached_from)} of another job asked it`;
  }
}

/** The values in the prompt template beside the evidence; the question only if it was reworded. */
function valueFacts(run: RunDetail, { prompt }: Call, extent: Extent): readonly Fact[] {
  const values = Object.entries(prompt.values).filter(
    ([name, value]) => value !== "" && !(name === "question" && value === run.input["question"]),
  );
  return values.map(([name, value]) => fact(name, oneLine(value, extent)));
}

function endOf({ done_reason: reason }: Call): string {
  if (reason === "stop") return "";
  return reason === "thought" ? " (all of it was thinking)" : ` (cut by its ${String(reason)})`;
}

function replyFacts(call: Call, extent: Extent): readonly Fact[] {
  if (call.reply === null)
    return [fact("refused", `${call.error_code ?? ""}: ${call.error_message ?? ""}`)];
  const ended = endOf(call);
  const tools = call.tool_calls.map((tool) => fact("calls", JSON.stringify(tool)));
  return [
    ...(call.reply === "" && tools.length > 0
      ? []
      : [fact("reply", `${oneLine(call.reply, extent)}${ended}`)]),
    ...tools,
  ];
}

/** References as numbered in the prompt, with the rows of the section Evidence that show them. */
function formatReferences(run: RunDetail, references: readonly Reference[]): string {
  const shown = references.map((reference) => formatReference(run, reference));
  const [first, last] = [references[0], references.at(-1)];
  const whole = shown.every(
    ({ row, span }, index) => span === "" && row === (shown[0]?.row ?? 0) + index,
  );
  if (whole && first !== undefined && last !== undefined && references.length > 2) {
    return `[${first.number}]-[${last.number}] = E${shown[0]?.row ?? 0}-E${shown.at(-1)?.row ?? 0}`;
  }
  return references
    .map(({ number }, index) => {
      const { row, name, span } = shown[index] ?? { row: 0, name: "", span: "" };
      return `[${number}] = ${row === 0 ? name : `E${row}`}${span}`;
    })
    .join("; ");
}

type ShownReference = { readonly row: number; readonly name: string; readonly span: string };

function formatReference(run: RunDetail, reference: Reference): ShownReference {
  const { path, sha256, chunkKey, startChar, endChar, summaryLevel } = reference;
  const at = run.evidence.findIndex(
    (piece) => piece.path === path && piece.sha256 === sha256 && piece.chunk_key === chunkKey,
  );
  const piece = run.evidence[at];
  const isWhole =
    summaryLevel === null && piece?.start_char === startChar && piece.end_char === endChar;
  const characters = `characters ${formatCount(startChar)}-${formatCount(endChar)}`;
  const span = summaryLevel === null ? `, ${characters}` : `, summary of ${characters}`;
  return { row: at + 1, name: `${path}, sha256 ${sha256}`, span: isWhole ? "" : span };
}

const NOUNS = { file: "file", chunk: "passage", web: "web page", output: "print" } as const;

/** A piece that was read, admitted or not, with the proof of its origin. */
export function evidenceItem(piece: RunDetail["evidence"][number], index: number): Item {
  const verdict = piece.admitted ? "admitted" : `rejected (${piece.rejected_reason ?? ""})`;
  const place = { ...piece, heading: piece.heading_path };
  const facts = [
    ...(piece.locator === null ? [] : [`from ${formatLocator(piece.locator)}`]),
    `characters ${formatCount(piece.start_char)}-${formatCount(piece.end_char)} of ${formatCount(piece.chars_full)}`,
    ...(piece.kind !== "chunk" && piece.truncated ? ["cut"] : []),
    ...(piece.score === null ? [] : [`score ${piece.score.toPrecision(4)}`]),
    ...(piece.chunk_key === null
      ? []
      : [`chunk ${piece.chunk_key} of source ${piece.source ?? ""}`]),
  ];
  return {
    mark: `E${index + 1}`,
    text: joinTexts(`${verdict}  ${NOUNS[piece.kind]} `, placePiece(place)),
    lines: [facts.join(", "), ...unreadLines([piece]), { kind: "sha256", sha256: piece.sha256 }],
  };
}

/** A tool call: its arguments and its outcome. */
export const toolCallItem =
  (extent: Extent) =>
  (call: RunDetail["tool_calls"][number]): Item => ({
    text: `${call.name}(${JSON.stringify(call.args)})  ${formatDuration(call.duration_ms)}`,
    lines: [
      formatOutcome(call),
      ...(call.trailing_text === null
        ? []
        : [`text after the call: ${oneLine(JSON.stringify(call.trailing_text), extent)}`]),
    ],
  });

const formatOutcome = (call: RunDetail["tool_calls"][number]): string =>
  call.error_code === null
    ? JSON.stringify(call.result)
    : `${call.error_code}: ${call.error_message ?? ""}`;

/** The sources behind the numbers of an answer: `[2] notes/brakes.md#Bleeding:10-14`. */
export const citationItems = (run: RunDetail): readonly Item[] =>
  run.citations.map((citation) => {
    const { quote } = citation;
    const quoted = typeof quote === "string" ? `  "${oneLine(quote, "brief")}"` : "";
    return {
      mark: citationNumber(run, citation),
      text: joinTexts(citedText(citation, run.evidence, []), quoted),
    };
  });

/** The number of a citation in the last prompt; a dash if several pieces come from the same file. */
function citationNumber({ calls }: RunDetail, citation: StoredCitation): string {
  if (typeof citation.number === "number") return `[${citation.number}]`;
  const shown = calls.at(-1)?.prompt.evidence ?? [];
  const cited = shown.filter(({ path, chunkKey }) =>
    isOfPiece(citation, { path, chunk_key: chunkKey }),
  );
  const [only] = cited;
  return only !== undefined && cited.length === 1 ? `[${only.number}]` : "-";
}

type Span = Pick<RunDetail["claims"][number], "number" | "path" | "line_start" | "line_end">;

/** `[2] notes/brakes.md:10-14`; `nowhere` for a span that was not found. */
export function spanPlace({ number, path, line_start: first, line_end: last }: Span): Text {
  if (path === null || first === null) return path ?? "nowhere";
  const place = { kind: "place", path, line_start: first, line_end: last ?? first } as const;
  return [`[${number ?? ""}] `, place];
}
