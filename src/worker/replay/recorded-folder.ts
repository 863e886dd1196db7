import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Failure } from "../../shared/failure.ts";
import { isRecord, parseJson } from "../../shared/json-value.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { storedGrant } from "../../shared/store/investigations/grants.ts";
import type { Grant } from "../../shared/store/investigations/grants.ts";
import type { StoredStep } from "../../shared/store/investigations/steps.ts";
import { storedCall } from "../../shared/store/jobs/model-calls.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import { coverageRecord, storedCheck } from "../../shared/store/jobs/verification.ts";
import { storedReview } from "../../shared/store/jobs/draft-reviews.ts";
import type { StoredVerification } from "../../shared/verification.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { TRACE_VERSION, traceLineSchema } from "../../shared/views/trace-lines.ts";
import type { TraceLine, TraceLineOf } from "../../shared/views/trace-lines.ts";

/** What is on record of a job, as rows or an exported trace hold it. */
export type RecordedJob = {
  /** First to last. */
  readonly runs: readonly RunDetail[];
  readonly calls: readonly StoredCall[];
  readonly verification: StoredVerification;
  readonly investigation:
    { readonly grant: Grant; readonly steps: readonly StoredStep[] } | undefined;
};

const FILE = "trace.jsonl";

/**
 * Reads what `runs trace` wrote.
 * @param folder absolute
 * @throws Failure INPUT_INVALID, naming file and line, where a line is broken, missing, or of another version
 */
export async function readTraceFolder(folder: string): Promise<RecordedJob> {
  const lines = new Map<TraceLine["type"], TraceLine[]>();
  for await (const line of readLines(join(folder, FILE))) {
    // What the jobs of checks did is told by the checks.
    if (line.scope !== "job") continue;
    const same = lines.get(line.type);
    if (same === undefined) lines.set(line.type, [line]);
    else same.push(line);
  }
  return recordedJob(lines);
}

async function* readLines(path: string): AsyncGenerator<TraceLine> {
  let seq = 0;
  let last: TraceLine | undefined;
  const file = createReadStream(path, "utf8");
  try {
    for await (const text of createInterface({ input: file, crlfDelay: Infinity })) {
      seq += 1;
      if (last?.type === "end") throw broken(path, seq, "stands behind the end");
      last = parseLine(text, path, seq);
      yield last;
    }
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    file.destroy();
  }
  if (last?.type !== "end") throw broken(path, seq + 1, "is missing, and all behind it");
}

function unreadable(path: string, error: unknown): unknown {
  const code = ["ENOENT", "ENOTDIR", "EACCES"].find((one) => hasCode(error, one));
  if (code === undefined) return error;
  return new Failure(
    "INPUT_INVALID",
    `${path} can't be read (${code}). --from names a folder that nightdesk runs trace wrote.`,
  );
}

function parseLine(text: string, path: string, seq: number): TraceLine {
  const value = parseJson(text);
  if (!isRecord(value)) throw broken(path, seq, "is no JSON object");
  if (seq === 1) assertVersion(value, path);
  if (typeof value["seq"] === "number" && value["seq"] > seq) {
    throw broken(path, seq, `is missing: seq ${String(value["seq"])} stands there`);
  }
  const read = traceLineSchema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw broken(path, seq, `is broken at ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
  }
  if (read.data.seq !== seq) throw broken(path, seq, `has seq ${String(read.data.seq)}`);
  if (read.data.type === "end" && read.data.lines !== seq) {
    throw broken(path, seq, `ends a trace of ${String(read.data.lines)} lines`);
  }
  return read.data;
}

function assertVersion(first: Readonly<Record<string, unknown>>, path: string): void {
  if (first["type"] !== "job") throw broken(path, 1, "is not that of the job");
  const version = first["schema_version"];
  if (version === TRACE_VERSION) return;
  throw new Failure(
    "INPUT_INVALID",
    `${path}:1: the trace is of version ${JSON.stringify(version)}, and this Nightdesk reads version ${String(TRACE_VERSION)}. Export it with this Nightdesk, or replay it with the one that wrote it.`,
  );
}

const broken = (path: string, line: number, what: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `${path}:${String(line)}: the line ${what}. Export it again: nightdesk runs trace ID --output DIR.`,
  );

type Lines = ReadonlyMap<TraceLine["type"], readonly TraceLine[]>;

const linesOf = <Type extends TraceLine["type"]>(
  lines: Lines,
  type: Type,
): readonly TraceLineOf<Type>[] =>
  (lines.get(type) ?? []).filter((line): line is TraceLineOf<Type> => line.type === type);

function recordedJob(lines: Lines): RecordedJob {
  const calls = linesOf(lines, "call").toSorted((one, other) => one.call_id - other.call_id);
  const [grant] = linesOf(lines, "grant");
  return {
    runs: linesOf(lines, "run").flatMap((run) => recordedRun(run, calls, lines)),
    calls: calls.map(storedCall),
    verification: {
      checks: linesOf(lines, "check").toSorted(byRound).map(storedCheck),
      coverage: linesOf(lines, "coverage").map(coverageRecord),
      judgements: linesOf(lines, "judgement").map(({ round, caps }) => ({ round, caps })),
      review: linesOf(lines, "review").map(storedReview)[0] ?? null,
    },
    investigation:
      grant === undefined ? undefined : { grant: storedGrant(grant), steps: storedSteps(lines) },
  };
}

const byRound = (one: TraceLineOf<"check">, other: TraceLineOf<"check">): number =>
  one.round - other.round || one.ordinal - other.ordinal;

/** The run as `runs show` has it; none where it never ended. */
function recordedRun(
  run: TraceLineOf<"run">,
  calls: readonly TraceLineOf<"call">[],
  lines: Lines,
): readonly RunDetail[] {
  const [job] = linesOf(lines, "job");
  const end = linesOf(lines, "answer").find(({ run_id: id }) => id === run.run_id);
  if (job === undefined || end === undefined) return [];
  const own = <Type extends TraceLine["type"]>(type: Type): TraceLineOf<Type>[] =>
    linesOf(lines, type).filter(({ run_id: id }) => id === run.run_id);
  return [
    {
      ...job,
      ...end,
      ...run,
      input: job.input,
      scope: end.answer_scope,
      model: end.model_second ?? end.model_first,
      started_at: new Date(run.at),
      finished_at: new Date(end.at),
      job_created_at: new Date(job.at),
      events: own("step"),
      tool_calls: own("tool"),
      evidence: own("evidence"),
      quotes: own("quote"),
      figures: own("figure"),
      claims: own("claim"),
      field_bindings: own("field"),
      summary_parts: own("part"),
      calls: usedCalls(run.run_id, end, calls),
      // Those of the job stand beside it, with what they gave.
      steps: [],
      verification_checks: [],
      judgements: [],
      constraints: [],
      coverage: [],
    },
  ];
}

/** The calls that a run rests on, in its order, then those that it made for nothing. */
function usedCalls(
  runId: string,
  { calls: used }: TraceLineOf<"answer">,
  calls: readonly TraceLineOf<"call">[],
): RunDetail["calls"] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const isUsed = new Set(used.map(({ call_id: id }) => id));
  const rest = calls
    .filter(({ run_id: by, call_id: id }) => by === runId && !isUsed.has(id))
    .map((call) => ({
      ...call,
      created_at: call.at,
      origin: call.cached_from === null ? ("asked" as const) : ("cached" as const),
    }));
  const rested = used.flatMap(({ call_id: id, pass, origin }) => {
    const call = byId.get(id);
    return call === undefined ? [] : [{ ...call, created_at: call.at, pass, origin }];
  });
  return [...rested, ...rest];
}

/** What the repetition of an investigation goes by: calls of tools and models, and what rules did. Replies stand with the calls. */
function storedSteps(lines: Lines): readonly StoredStep[] {
  const tools = linesOf(lines, "tool").flatMap((line) => {
    const { investigation: step } = line;
    return step === null ? [] : [toolStep(line, step)];
  });
  const others = linesOf(lines, "policy").map((line): StoredStep => ({
    ...NO_TOOL,
    ordinal: line.ordinal,
    runId: line.run_id,
    kind: line.kind,
    state: line.state,
    detail: line.detail,
  }));
  const failed = new Set(
    others.flatMap(({ state, ordinal }) => (state === "failed" ? [ordinal] : [])),
  );
  const models = linesOf(lines, "call").flatMap(({ ordinal, pass, run_id: runId }) =>
    pass !== "step" || ordinal === null || failed.has(ordinal)
      ? []
      : [
          {
            ...NO_TOOL,
            ordinal,
            runId,
            kind: "model",
            state: "done",
            detail: {},
          } as const,
        ],
  );
  return [...tools, ...others, ...models].sort((one, other) => one.ordinal - other.ordinal);
}

const NO_TOOL = { effect: null, requestSha256: null, tool: null, activeMs: 0, tokens: 0 };

const toolStep = (
  line: TraceLineOf<"tool">,
  {
    ordinal,
    state,
    detail,
    effect,
    args_sha256: argsSha256,
  }: NonNullable<TraceLineOf<"tool">["investigation"]>,
): StoredStep => ({
  ...NO_TOOL,
  ...{ ordinal, runId: line.run_id, kind: "tool", effect, state, detail },
  activeMs: line.duration_ms,
  tool: {
    name: line.name,
    args: line.args,
    argsSha256,
    result: line.result,
    error:
      line.error_code === null
        ? null
        : { code: line.error_code, message: line.error_message ?? "" },
    output: line.output === null ? null : Buffer.from(line.output),
  },
});
