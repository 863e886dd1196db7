import type { RunDetail } from "../../shared/views/runs.ts";
import type { Followed } from "../../shared/store/jobs/followed.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { StoredVerification } from "../../shared/job/verification.ts";
import { Failure } from "../../shared/failure.ts";
import type { FaultCode } from "../../shared/failure.ts";
import { JUDGE_RULE } from "../../shared/job/run-result.ts";
import type { RunResult } from "../../shared/job/run-result.ts";
import type { RunEnd } from "../../shared/job/settlement.ts";
import { schemaCompiler } from "../json-schema.ts";
import { startTrace } from "../run-trace.ts";
import type { RunTrace } from "../run-trace.ts";
import { openSchemaThread } from "../offload/offload.ts";
import { answerQuestion } from "../jobs/ask.ts";
import { chatOnce } from "../jobs/chat.ts";
import { investigate } from "../jobs/investigate/investigate.ts";
import type { DigestChild } from "../jobs/digest-items.ts";
import { digestChildren } from "../jobs/digest.ts";
import { extractFile } from "../jobs/extract.ts";
import type { AskJudge, PipelineDependencies, Verification } from "../evidence/types.ts";
import { summarizeFile } from "../jobs/summarize.ts";
import { headOfField } from "../verify/judge/judged-fields.ts";
import type { FileText } from "./recorded-sources.ts";
import { NO_WEB } from "../web/open-web.ts";
import type { RepeatableInput } from "../../shared/job/kinds.ts";
import type { InvestigateInput } from "../../shared/job/job.ts";
import { recordedForm } from "../jobs/call-log.ts";
import { NotOnRecord, recordedCalls, recordedModels, recordedRoute } from "./recorded-calls.ts";
import type { RepeatedCall, Unrecorded } from "./recorded-calls.ts";
import {
  recordedFiles,
  recordedFollowed,
  recordedHoldsAny,
  recordedLocate,
  recordedNotes,
  recordedPassages,
  recordedSearch,
  recordedFindings,
  recordedLoop,
  recordedReads,
} from "./recorded-tools.ts";
import type { RecordedInvestigation } from "./recorded-tools.ts";

/** The sources of a run, from the database and the files. */
export type RecordedRun = {
  readonly run: RunDetail;
  readonly input: RepeatableInput;
  /** The calls of all attempts of its job. */
  readonly calls: readonly StoredCall[];
  /** The texts of its files by path, unchanged since. */
  readonly texts: ReadonlyMap<string, FileText>;
  /** For a digest: its jobs, whose answers are unchanged. */
  readonly children: readonly DigestChild[];
  /** The stored checks of its answer, from all rounds. */
  readonly verification: StoredVerification;
  /** For an investigation: its grant and its steps. */
  readonly investigation?: RecordedInvestigation | undefined;
};

export type Repetition = {
  readonly calls: readonly RepeatedCall[];
  /** ended: with a result. broke: with a fault. stopped: at an action that the run had not done. */
  readonly end:
    | { readonly kind: "ended"; readonly outcome: RunEnd }
    | { readonly kind: "broke"; readonly code: FaultCode; readonly message: string }
    | { readonly kind: "stopped"; readonly at: Unrecorded };
  readonly record: Omit<RunResult, "outcome">;
};

/**
 * Repeats a run with today's code and configuration, without a model: snapshot, reads, notes and replies come from the record,
 * and the answers of a digest's jobs from their rows.
 * @param deps the dependencies of a new run; everything in them that reaches files, index or hosts is replaced
 */
export async function replayRun(
  recorded: RecordedRun,
  deps: Omit<PipelineDependencies, "calls">,
  signal: AbortSignal,
): Promise<Repetition> {
  const { run, texts, children } = recorded;
  const calls = recordedCalls(recorded.calls);
  const passages = recordedPassages(run.evidence, texts);
  const routed = recordedRoute(run, recorded.input, deps.settings.model);
  const { ask } = deps.settings;
  const trace = startTrace();
  const end = await repeatRun(
    {
      ...{ jobId: run.job_id, input: routed.input, followed: recordedFollowed(run) },
      ...{ children, investigation: recorded.investigation },
    },
    {
      ...deps,
      settings: {
        ...deps.settings,
        model: routed.settings,
        // Keeps a snapshot whole that has more passages than the configuration now allows.
        ask: {
          ...ask,
          top_n: Math.max(ask.top_n, passages.length),
          answer_form: recordedForm(recorded.calls),
        },
      },
      models: recordedModels(run, calls, recorded.investigation?.steps ?? []),
      search: recordedSearch(run, passages),
      versions: async () => new Map(),
      holdsAny: async () => recordedHoldsAny(run),
      readTextFile: recordedReads(run.tool_calls, texts),
      knownFiles: async () => recordedFiles(run),
      locate: recordedLocate(run),
      calls: calls.log,
      judge: recordedJudge(run),
      notes: async () => ({ shown: recordedNotes(run), leftOut: 0 }),
      verification: recordedVerification(recorded, deps.fenceKey),
    },
    trace,
    signal,
  );
  return { calls: calls.repeated, end, record: trace.record() };
}

/** The verdicts of a judge on statements and fields, from the record. */
const recordedJudge =
  ({ claims, field_bindings: fields }: RecordedRun["run"]): AskJudge =>
  async (statements) =>
    statements.map(({ text }) => {
      const field = fields.find((one) => one.judge_says !== null && isAbout(text, one));
      if (field?.judge_says != null) {
        return { says: field.judge_says, detail: field.judge_detail ?? "" };
      }
      // A statement without a citation was not judged.
      const check = claims
        .filter((claim) => claim.text === text)
        .flatMap(({ checks }) => checks)
        .find(({ rule }) => rule === JUDGE_RULE);
      return check === undefined ? null : { says: SAID[check.verdict], detail: check.detail };
    });

/** A value that was left out is recognized by its name alone. */
function isAbout(text: string, field: Parameters<typeof headOfField>[0]): boolean {
  const head = headOfField(field);
  return field.value === null ? text.startsWith(head) : `${text} (`.startsWith(`${head} (`);
}

const SAID = { pass: "yes", fail: "no", unknown: "unclear" } as const;

/** Further rounds beyond those of revisions, because evidence changed between two runs. */
const NEW_DRAFTS = 2;

/** Uses the recorded checks and scores of the auditor; searches nothing and calls no model. */
function recordedVerification(
  { run, verification: stored, texts }: Pick<RecordedRun, "run" | "verification" | "texts">,
  fenceKey: Buffer,
): Verification | undefined {
  if (run.verification === "off" || stored.checks.length === 0) return undefined;
  const isStrict = run.error_code === "ANSWER_UNSUPPORTED";
  // A revision that gave the same answer began no round, but counts as one.
  const revisions = run.events.filter(({ step }) => step === "revise").length;
  const last = Math.max(...stored.checks.map(({ record }) => record.round));
  return {
    settings: {
      mode: isStrict ? "strict" : "standard",
      rounds: Math.max(revisions, last - NEW_DRAFTS),
      sample_percent: 100,
      min_sources: stored.audits.some(({ caps }) => caps.includes("one_source")) ? 2 : 1,
      newest_wins: false,
      negative: "off",
      budget: { tokens: null, calls: null },
      priority: 0,
    },
    jobId: run.job_id,
    stored: async () => stored,
    auditor: async () => null,
    auditorName: undefined,
    tier: last,
    // Other models have runs of their own; the decision of a person is recorded.
    next: stored.review === null ? null : "human",
    pathPrefix: undefined,
    sources: {
      listPaths: async () => [],
      listPathsNow: async () => ({ paths: [], isWhole: true }),
      read: recordedFindings(run.evidence, texts),
      search: async () => [],
      versions: async () => new Map(),
    },
    fenceKey,
  };
}

type Job = Pick<RecordedRun, "children" | "investigation"> & {
  readonly jobId: string;
  readonly input: RepeatableInput;
  readonly followed: Followed | undefined;
};

async function repeatRun(
  job: Job,
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Repetition["end"]> {
  try {
    return { kind: "ended", outcome: await runPipeline(job, deps, trace, signal) };
  } catch (error) {
    if (error instanceof NotOnRecord) return { kind: "stopped", at: error.what };
    if (!(error instanceof Failure)) throw error;
    return { kind: "broke", code: error.code, message: error.message };
  }
}

function runPipeline(
  { jobId, input, followed, children, investigation }: Job,
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<RunEnd> {
  switch (input.kind) {
    case "ask":
      return answerQuestion({ jobId, input, followed }, deps, trace, signal);
    case "summarize":
      return summarizeFile({ jobId, input }, deps, trace, signal);
    case "extract":
      return extractFile(
        { input },
        { ...deps, compileSchema: schemaCompiler(), offloadSchema: openSchemaThread() },
        trace,
        signal,
      );
    case "investigate":
      return repeatInvestigation(input, investigation, { deps, trace, signal });
    case "digest":
      return digestChildren({ input }, children, deps, { trace, signal });
    case "chat":
      return chatOnce({ jobId, input }, deps, trace, signal);
  }
}

/** Runs no tool: results of tools and decisions of people come from the record. */
async function repeatInvestigation(
  input: InvestigateInput,
  investigation: RecordedInvestigation | undefined,
  run: {
    readonly deps: PipelineDependencies;
    readonly trace: RunTrace;
    readonly signal: AbortSignal;
  },
): Promise<RunEnd> {
  if (investigation === undefined) throw new NotOnRecord({ kind: "tool", name: "any" });
  const { log, registry, mcp } = await recordedLoop(investigation, run.trace);
  return investigate(
    input,
    {
      ...run.deps,
      log,
      registry,
      mcp,
      listPaths: async () => [],
      web: NO_WEB,
      admitFiles: async () => ({ kind: "admitted", files: [] }),
      probeShell: async () => NO_SHELL,
      // The grant is recorded, so today's presets and limits do not matter.
      tools: {
        presets: {},
        limits: { steps: 0, calls: 0, tokens: 0, time_s: 0, batch_artifact_mb: 0 },
        drift: {
          notes_every: null,
          same_query: null,
          same_place: null,
          sources: null,
          failures: null,
          no_new_evidence: null,
        },
        unattended: "park",
        shell: { ask: "never" },
        approval_hours: 0,
      },
    },
    run.trace,
    run.signal,
  );
}

/** No command runs; the record says which tools were disabled. */
const NO_SHELL = {
  kind: "unavailable",
  reason: "not_proved",
  message: "a run is repeated without tools",
} as const;
