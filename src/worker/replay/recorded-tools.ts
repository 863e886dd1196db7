import { isRefusalCode, refuse } from "../../shared/failure.ts";
import { isPassedOver } from "../../shared/job/passed-over.ts";
import type { RunTrace } from "../run-trace.ts";
import type { Grant, GrantLimits } from "../../shared/store/investigations/grants.ts";
import type { StoredStep } from "../../shared/store/investigations/steps.ts";
import { followedSchema } from "../../shared/store/jobs/followed.ts";
import type { Followed } from "../../shared/store/jobs/followed.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { toNote } from "../answer/notes.ts";
import type { CheckSources, Note, Passage, PipelineDependencies } from "../evidence/types.ts";
import { NAMED_FILE_ONLY } from "../jobs/ask.ts";
import { DISABLED, MAX_TIME } from "../jobs/investigate/policies.ts";
import { callKey, parseOutput } from "../jobs/investigate/record.ts";
import { recordedServerTools } from "../jobs/investigate/server-tools.ts";
import type { StepLog } from "../jobs/investigate/step-log.ts";
import { NO_MCP } from "../mcp-client/definition.ts";
import type { McpServers } from "../mcp-client/open-servers.ts";
import { knownFilesOf } from "../question/known-files.ts";
import type { KnownFiles } from "../question/known-files.ts";
import { sliceCodePoints } from "../text/clean-text.ts";
import { mcpTool } from "../tools/mcp-tool.ts";
import { TOOLS } from "../tools/all-tools.ts";
import { registryOf } from "../tools/registry.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { FileText } from "./recorded-sources.ts";
import { NotOnRecord } from "./recorded-calls.ts";
import { z } from "zod";
import { groupBy } from "../../shared/group-by.ts";

const resultSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  chars_full: z.number(),
  chars_returned: z.number(),
  truncated: z.boolean(),
});

const classifiedSchema = z.object({
  known_files: z.array(z.string()),
  named_files: z.array(z.string()),
  located: z.array(z.string()).default([]),
});

const classifiedOf = ({ events }: Pick<RunDetail, "events">) =>
  events.flatMap(({ detail }) => classifiedSchema.safeParse(detail).data ?? []);

/** The files that the classification knew at that time. */
export const recordedFiles = (run: Pick<RunDetail, "events">): KnownFiles =>
  knownFilesOf(classifiedOf(run).flatMap(({ known_files: paths }) => paths));

/** What the question took over from the question that it follows. */
export const recordedFollowed = ({ events }: Pick<RunDetail, "events">): Followed | undefined =>
  events.flatMap(({ detail }) => followedSchema.safeParse(detail["followed"]).data ?? [])[0];

const retrievedSchema = z.object({ holds_any: z.boolean() });

/** Whether the index held any document that the question allows; recorded only if no passage was found. */
export const recordedHoldsAny = ({ events }: Pick<RunDetail, "events">): boolean =>
  events.every(({ detail }) => retrievedSchema.safeParse(detail).data?.holds_any ?? true);

/** The result of locating files before the first model call: a refusal ended the run, and is its only read. */
export function recordedLocate(
  run: Pick<RunDetail, "models" | "tool_calls" | "events">,
): PipelineDependencies["locate"] {
  const [first] = run.models.length > 0 ? [] : run.tool_calls.filter(wasCarriedOut);
  const places = new Map(
    classifiedOf(run).flatMap(({ named_files: names, located }) =>
      located.map((path, at) => [names[at], path] as const),
    ),
  );
  return async (path) => {
    const code = first?.args["path"] === path ? (first.error_code ?? "") : "";
    return isRefusalCode(code)
      ? refuse(code, first?.error_message ?? "")
      : { kind: "located", path: places.get(path) ?? path };
  };
}

/** Whether the sandbox was called: only then the arguments include a number of characters. */
export const wasCarriedOut = ({ args }: RunDetail["tool_calls"][number]): boolean =>
  typeof args["max_chars"] === "number";

/**
 * Reads with the recorded results, one after the other, and the texts of the files.
 * Throws NotOnRecord for a read that the run did not make.
 */
export function recordedReads(
  toolCalls: RunDetail["tool_calls"],
  texts: ReadonlyMap<string, FileText>,
): PipelineDependencies["readTextFile"] {
  const reads = toolCalls.filter(wasCarriedOut);
  return async ({ path }) => {
    const read = reads.shift();
    if (read?.args["path"] !== path) throw new NotOnRecord({ kind: "read", path });
    if (read.error_code !== null && isRefusalCode(read.error_code)) {
      return refuse(read.error_code, read.error_message ?? "");
    }
    const result = resultSchema.parse(read.result);
    const file = texts.get(result.path);
    if (file === undefined) throw new NotOnRecord({ kind: "read", path });
    return {
      ...file,
      kind: "read",
      path: result.path,
      sha256: result.sha256,
      bytes: result.bytes,
      charsFull: result.chars_full,
      charsReturned: result.chars_returned,
      truncated: result.truncated,
      text: sliceCodePoints(file.text, 0, result.chars_returned),
    };
  };
}

/** Reads of files that checks found: the last row of that path. A file without a row was not admitted. */
export const recordedFindings =
  (evidence: RunDetail["evidence"], texts: ReadonlyMap<string, FileText>): CheckSources["read"] =>
  async (path) => {
    const row = evidence.findLast(
      (one) => one.kind === "file" && one.admitted && one.path === path,
    );
    const file = texts.get(path);
    if (row === undefined || file === undefined) {
      return refuse("FILE_NOT_FOUND", `${JSON.stringify(path)} is no evidence of the run.`);
    }
    return {
      ...file,
      kind: "read",
      path,
      sha256: row.sha256,
      bytes: Buffer.byteLength(file.text),
      charsFull: row.chars_full,
      charsReturned: row.chars_returned,
      truncated: row.truncated,
    };
  };

const snapshotSchema = z.object({ passages: z.number(), snapshot: z.string() });

/**
 * Searches with the recorded passages: for a file that the run read, those found in that file alone; for any other search, the
 * first ones, which were the snapshot.
 */
export function recordedSearch(
  { events, evidence }: Pick<RunDetail, "events" | "evidence">,
  passages: readonly Passage[],
): PipelineDependencies["search"] {
  const found = events.flatMap(({ detail }) => snapshotSchema.safeParse(detail).data ?? []);
  const read = new Set(evidence.flatMap(({ kind, path }) => (kind === "file" ? [path] : [])));
  const others = new Set(
    evidence.flatMap((row) => (row.rejected_reason === NAMED_FILE_ONLY ? [row.chunk_key] : [])),
  );
  return async ({ pathPrefix }) =>
    pathPrefix !== null && read.has(pathPrefix)
      ? passages.filter(({ path, chunkKey }) => path === pathPrefix && !others.has(chunkKey))
      : passages.slice(0, found[0]?.passages);
}

/** The snapshot of a run from its evidence rows, in rank order, with the texts of the files. */
export const recordedPassages = (
  evidence: RunDetail["evidence"],
  texts: ReadonlyMap<string, FileText>,
): readonly Passage[] =>
  evidence.flatMap((row) => {
    const file = texts.get(row.path);
    if (row.chunk_key === null || file === undefined || isPassedOver(row)) return [];
    return [
      {
        chunkKey: row.chunk_key,
        source: row.source ?? "",
        path: row.path,
        sha256: row.sha256,
        extractor: row.extractor,
        docChars: row.chars_full,
        truncated: row.truncated,
        headingPath: row.heading_path,
        locator: row.locator,
        // Only the built-in model without language uses titles, and its reply is recorded.
        title: null,
        startChar: row.start_char,
        endChar: row.end_char,
        lineStart: row.line_start,
        lineEnd: row.line_end,
        text: sliceCodePoints(file.text, row.start_char, row.end_char),
        score: row.score ?? 0,
        lexicalScore: null,
      },
    ];
  });

/** The notes in the run's prompts, as a prompt shows them, except notes that were deleted since. */
export const recordedNotes = ({ notes }: Pick<RunDetail, "notes">): readonly Note[] =>
  notes.flatMap(({ memory_id: memoryId, type, source, content }) => {
    if (type === null || source === null || content === null) return [];
    return [toNote({ memory_id: memoryId, type, source, content })];
  });

/** The rows of an investigation. */
export type RecordedInvestigation = {
  readonly grant: Grant;
  readonly steps: readonly StoredStep[];
};

type RecordedLoop = {
  readonly log: StepLog;
  /** The tools, which return their recorded results. */
  readonly registry: ToolRegistry;
  /** The recorded descriptions of the tools of servers. */
  readonly mcp: Pick<McpServers, "describe" | "reach">;
};

type RecordedCall = StoredStep & { readonly tool: NonNullable<StoredStep["tool"]> };

/**
 * The log and the tools for the repetition of an investigation. It writes nothing and runs no tool; approvals have their recorded
 * outcome. For a call that was never made it throws NotOnRecord.
 */
export async function recordedLoop(
  { grant, steps }: RecordedInvestigation,
  trace: Pick<RunTrace, "toolCall">,
): Promise<RecordedLoop> {
  const calls = steps.filter(
    (step): step is RecordedCall => step.tool !== null && step.state !== "skipped",
  );
  const left = groupBy(calls, ({ tool }) => callKey(tool.name, tool.args));
  let current: RecordedCall | undefined;
  const held = { ...grant, limits: repeatedLimits(grant.limits, steps) };
  const written = async (): Promise<void> => undefined;
  const log: StepLog = {
    findGrant: async () => held,
    openGrant: async () => held,
    load: async () => [],
    output: async () => undefined,
    insert: written,
    beginModel: written,
    endModel: written,
    async beginTool({ name, args }) {
      current = left.get(callKey(name, args))?.shift();
      if (current === undefined) throw new NotOnRecord({ kind: "tool", name });
      if (current.state === "done" && current.tool.output === null) {
        throw new NotOnRecord({ kind: "output", name, step: current.ordinal });
      }
      return "begun";
    },
    async endTool(_, { error, result, durationMs }) {
      const { name = "", args = {} } = current?.tool ?? {};
      trace.toolCall({
        name,
        args,
        errorCode: error?.code ?? null,
        errorMessage: error?.message ?? null,
        result,
        trailingText: null,
        durationMs,
      });
    },
    outputRoom: async () => Infinity,
    settleOpen: written,
    requestApproval: async () => "waiting",
    lastState: async () => undefined,
    commandRules: async () => [],
    countRule: written,
    approvalOf: async () => undefined,
    start: written,
    withdrawRequest: async () => false,
  };
  const whyDisabled = (name: string): string | null => {
    const told = steps.find(({ detail }) => detail["rule"] === DISABLED && detail["tool"] === name);
    return told === undefined ? null : String(told.detail["why"]);
  };
  const described = recordedServerTools(steps) ?? [];
  const known = [...TOOLS.tools, ...(await Promise.all(described.map(mcpTool)))];
  const registry = registryOf(
    known.map((tool) => ({
      ...tool,
      disabled: () => whyDisabled(tool.name),
      // Approvals were decided then; after a denial, the recorded result of the call is the denial.
      approval: async () => null,
      async run() {
        const { output, error } = current?.tool ?? { output: null, error: null };
        const given = parseOutput(output);
        if (given !== null) return given;
        const { code, message } = error ?? { code: "INVALID_ARGS", message: "" };
        return { kind: "refused", code: code as "INVALID_ARGS", message };
      },
    })),
  );
  const mcp = { describe: async () => described, reach: () => NO_MCP };
  return { log, registry, mcp };
}

/**
 * Limits for the repetition. It takes another time than the runs took: if their limit of time ended them, the repetition ends
 * after the same number of steps.
 */
function repeatedLimits(limits: GrantLimits, steps: readonly StoredStep[]): GrantLimits {
  const unlimited = { ...limits, maxSeconds: Infinity };
  const end = steps.find(({ kind, detail }) => kind === "policy" && detail["rule"] === MAX_TIME);
  if (end === undefined) return unlimited;
  const made = steps.filter(
    ({ kind, state, ordinal }) =>
      (kind === "model" || kind === "tool") && state !== "skipped" && ordinal < end.ordinal,
  );
  return { ...unlimited, maxSteps: made.length };
}
