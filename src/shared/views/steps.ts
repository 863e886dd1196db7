import { z } from "zod";
import { STEP_KINDS, STEP_STATES } from "../store/investigations/steps.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { EFFECTS } from "../config/mcp-servers.ts";
import { cutToColumns } from "../terminal/styled-text.ts";
import { countOf, formatCount } from "./quantity.ts";
import { NAME, RIGHT, WORDS, duration, fold, rowsWithGap, state, tableOf } from "./section.ts";
import type { Block, Extent, Table } from "./section.ts";

/** Characters of an error in lists, results and exports; the row has the whole text. */
export const ERROR_PREVIEW_CHARS = 500;

const storedOutput = z.object({
  stream: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  class: z.enum(["evidence", "output", "state"]),
  expires_at: z.string().nullable(),
  removed_at: z.string().nullable(),
  /** Its content, if it was requested. */
  text: z.string().optional(),
});

/** A step of an investigation, with the sizes and ids of its outputs. */
export const storedStep = z.object({
  ordinal: z.number(),
  run_id: z.string(),
  kind: z.enum(STEP_KINDS),
  state: z.enum(STEP_STATES),
  tool: z.string().nullable(),
  effect: z.enum(EFFECTS).nullable(),
  args: z.record(z.string(), z.unknown()).nullable(),
  args_sha256: z.string().nullable(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  call_id: z.number().nullable(),
  model: z.string().nullable(),
  prompt_tokens: z.number().nullable(),
  completion_tokens: z.number().nullable(),
  detail: z.record(z.string(), z.unknown()),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  outputs: z.array(storedOutput),
});
export type StepRow = z.infer<typeof storedStep>;

/**
 * SQL of a column for jobs `j`: the steps of the job, first to last, without the content of their outputs.
 * @param upTo a condition on `s` that excludes steps
 */
export const stepsColumn = (upTo = "true"): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('ordinal', s.ordinal, 'run_id', s.run_id, 'kind', s.kind, 'state', s.state,
           'tool', t.name, 'effect', s.effect, 'args', t.args, 'args_sha256', t.args_sha256,
           'error_code', coalesce(t.error_code, m.error_code),
           'error_message', left(coalesce(t.error_message, m.error_message), ${ERROR_PREVIEW_CHARS}),
           'call_id', m.call_id, 'model', m.model, 'prompt_tokens', m.prompt_tokens,
           'completion_tokens', m.completion_tokens, 'detail', s.detail, 'started_at', s.started_at, 'ended_at', s.ended_at,
           'duration_ms', case when s.ended_at is null then null when s.kind = 'tool' then t.duration_ms
                               else extract(epoch from s.ended_at - s.started_at) * 1000 end,
           'outputs', (select coalesce(jsonb_agg(jsonb_build_object('stream', u.stream, 'sha256', u.sha256, 'bytes', u.bytes,
                               'class', u.class, 'expires_at', u.expires_at, 'removed_at', u.removed_at) order by u.stream), '[]')
                         from nightdesk_data.artifact_uses u where u.job_id = s.job_id and u.step = s.ordinal))
           order by s.ordinal), '[]')
      from nightdesk_data.steps s
      left join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
      left join nightdesk_data.model_calls m on m.job_id = s.job_id and m.request_sha256 = s.request_sha256
     where s.job_id = j.job_id and ${upTo}) as steps`;

/** The steps of an investigation, one a row, with those of the earlier runs that a run continues. */
export function stepBlocks(
  steps: readonly StepRow[],
  runId: string | null,
  extent: Extent,
): readonly Block[] {
  if (steps.length === 0) return [];
  const earlier = steps.filter(({ run_id: by }) => runId !== null && by !== runId).length;
  const { items, gap } = fold(steps, extent, "step");
  const table = stepTable(items, extent);
  return [
    ...(earlier === 0
      ? []
      : [
          { kind: "line" as const, text: `${countOf(earlier, "step")} of earlier runs of the job` },
        ]),
    { ...table, rows: rowsWithGap(table, gap) },
  ];
}

/** Counts steps and tool calls, and the bytes of their outputs. */
export function stepsSummary(steps: readonly StepRow[]): string {
  const calls = steps.filter(({ kind }) => kind === "tool").length;
  const outputs = steps.flatMap((step) => step.outputs);
  const removed = outputs.filter(({ removed_at: at }) => at !== null);
  const sum = (of: typeof outputs): string =>
    formatBytes(of.reduce((all, { bytes }) => all + bytes, 0));
  const gone = removed.length === 0 ? "" : `, of it ${sum(removed)} removed since`;
  return `${countOf(steps.length, "step")}, ${countOf(calls, "call")} of tools, which gave ${sum(outputs)}${gone}`;
}

/** A step in one line for a cell: number, name, state, evidence, and stream, bytes and sha256 of each output. */
export const stepText = (step: StepRow): string =>
  [
    String(step.ordinal),
    step.tool ?? step.kind,
    step.state,
    ...evidenceOf(step).map((number) => `E${number}`),
    ...step.outputs.map(
      ({ stream, bytes, sha256, removed_at: at }) =>
        `${stream} ${bytes} bytes ${sha256}${at === null ? "" : " (removed)"}`,
    ),
  ].join(" ");

const stepTable = (steps: readonly StepRow[], extent: Extent): Table =>
  tableOf(steps, [
    ["step", ({ ordinal }) => String(ordinal), { ...RIGHT, least: 3 }],
    ["kind", ({ tool, kind }) => tool ?? kind, { ...NAME, least: 10 }],
    ["state", (step) => state(step.state), { least: 7 }],
    [
      "took",
      ({ duration_ms: ms }) => (ms === null ? null : duration(ms)),
      { ...RIGHT, leftOut: 2 },
    ],
    ["tokens", tokensText, { ...RIGHT, leftOut: 1 }],
    ["gave", outputsText, { leftOut: 3 }],
    ["what", (step) => detailText(step, extent), WORDS],
  ]);

const tokensText = ({ prompt_tokens: read, completion_tokens: written }: StepRow): string | null =>
  read === null ? null : `${formatCount(read)} + ${formatCount(written ?? 0)}`;

/** `E1, E2; result 1.2 KB`. */
function outputsText(step: StepRow): string | null {
  const pieces = evidenceOf(step).map((number) => `E${number}`);
  const outputs = step.outputs.map(
    ({ stream, bytes, removed_at: at }) =>
      `${stream} ${formatBytes(bytes)}${at === null ? "" : " (removed)"}`,
  );
  const given = [...(pieces.length === 0 ? [] : [pieces.join(", ")]), ...outputs];
  return given.length === 0 ? null : given.join("; ");
}

/** Numbers of its pieces in the evidence of the run. */
function evidenceOf({ detail }: StepRow): readonly number[] {
  const numbers = detail["evidence"];
  return Array.isArray(numbers) ? numbers.filter((number) => typeof number === "number") : [];
}

const ARGS_COLUMNS = 120;

/** The error, the arguments, the model and the details of a step. */
function detailText(step: StepRow, extent: Extent): string {
  const args = step.args === null ? [] : [shorten(JSON.stringify(step.args), extent)];
  const error =
    step.error_code === null
      ? []
      : [`${step.error_code}: ${shorten(step.error_message ?? "", extent)}`];
  const model = step.model === null ? [] : [step.model];
  // The error comes first, because a narrow terminal cuts the end.
  return [...error, ...args, ...model, ...detailTexts(step, extent)].join("; ");
}

/** Details shown elsewhere: evidence in a column of its own, `denied` in the state, the rest in the views moves and queries. */
const ELSEWHERE = new Set([
  ...["evidence", "found", "denied"],
  ...["move", "query_argument", "family", "novel", "place", "hits"],
]);

const detailTexts = ({ detail }: StepRow, extent: Extent): readonly string[] =>
  Object.entries(detail)
    .filter(([name, value]) => value !== null && !ELSEWHERE.has(name))
    // The rule comes first, and its message last.
    .sort(([one], [other]) => rankOf(one) - rankOf(other))
    .map(([name, value]) => {
      const text = shorten(typeof value === "string" ? value : JSON.stringify(value), extent);
      return name === "rule" || name === "told" ? text : `${name.replaceAll("_", " ")} ${text}`;
    });

const rankOf = (name: string): number => (name === "rule" ? 0 : name === "told" ? 2 : 1);

function shorten(text: string, extent: Extent): string {
  const line = text.replace(/\s+/g, " ").trim();
  return extent === "full" ? line : cutToColumns(line, ARGS_COLUMNS);
}

/** `512 bytes`, `1.2 KB`, `3.4 MB`: decimal units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return countOf(bytes, "byte");
  return bytes < 999_950
    ? `${(bytes / 1_000).toFixed(1)} KB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const keptSchema = z.object({
  step: z.number(),
  stream: z.string(),
  bytes: z.coerce.number(),
  sha256: z.string(),
  removed_at: z.date().nullable(),
  content: z.instanceof(Buffer).nullable(),
});
/** An output of a step; `content` is null if it was removed. */
export type StoredOutput = z.infer<typeof keptSchema>;

/**
 * The outputs of the steps of a job with their content, without archives of shell state.
 * @param id of the job, or of one of its runs
 * @param step null for all steps
 */
export const selectOutputs = (
  db: Queryable,
  id: string,
  step: number | null,
): Promise<readonly StoredOutput[]> =>
  rowsOf(db, keptSchema, [id, step])`
     select u.step, u.stream, u.bytes, u.sha256, u.removed_at, a.content
       from nightdesk_data.artifact_uses u left join nightdesk_data.artifacts a on a.sha256 = u.kept_sha256
      where u.class <> 'state' and ($2::integer is null or u.step = $2)
        and (u.job_id = $1 or u.job_id = (select r.job_id from nightdesk_data.runs r where r.run_id = $1))
      order by u.step, u.stream`;

type WithSteps = { readonly job_id: string; readonly steps: readonly StepRow[] };

/** Adds the stored outputs to the steps of a result or a run. */
export async function withOutputs<T extends WithSteps>(db: Queryable, row: T): Promise<T> {
  if (row.steps.every(({ outputs }) => outputs.length === 0)) return row;
  const texts = new Map(
    (await selectOutputs(db, row.job_id, null)).map(({ step, stream, content }) => [
      `${step} ${stream}`,
      content === null ? undefined : outputText(stream, content),
    ]),
  );
  const steps = row.steps.map((step) => ({
    ...step,
    outputs: step.outputs.map((output) => {
      const text = texts.get(`${step.ordinal} ${output.stream}`);
      return text === undefined ? output : { ...output, text };
    }),
  }));
  return { ...row, steps };
}

const resultSchema = z.object({
  text: z.string(),
  evidence: z.array(
    z.union([
      z.object({
        kind: z.literal("file"),
        reading: z.object({ path: z.string(), text: z.string() }),
      }),
      z.object({
        kind: z.literal("passage"),
        passage: z.object({ path: z.string(), text: z.string() }),
      }),
      z.object({ kind: z.literal("output"), output: z.object({ text: z.string() }) }),
    ]),
  ),
});

/** The output of a step for people: of a result its text, then each piece of evidence under its path. */
export function outputText(stream: string, content: Buffer): string {
  const text = content.toString("utf8");
  if (stream !== "result") return text;
  const { text: result, evidence } = resultSchema.parse(JSON.parse(text));
  const pieces = evidence.flatMap((piece) => {
    if (piece.kind === "output")
      return result.includes(piece.output.text) ? [] : [piece.output.text];
    const { path, text: words } = piece.kind === "file" ? piece.reading : piece.passage;
    return [`${path}\n${words}`];
  });
  return [...(result === "" ? [] : [result]), ...pieces].join("\n\n");
}
