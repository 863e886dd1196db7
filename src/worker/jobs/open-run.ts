import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import { pathPrefixIn } from "../../shared/job/job.ts";
import type { JobInput } from "../../shared/job/job.ts";
import { schemaCompiler } from "../json-schema.ts";
import type { SchemaCompiler } from "../json-schema.ts";
import { hasWeights } from "../../shared/config/providers.ts";
import { REST_MS } from "../run-trace.ts";
import type { RunTrace } from "../run-trace.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import type { AskJudge, CompareClaims, PipelineDependencies } from "../evidence/types.ts";
import { createPacing, paceEmbedder, paceEmbedders } from "../hosts/pacing.ts";
import type { EmbedderLimiter, Timing } from "../hosts/pacing.ts";
import { pacingSettingsOf } from "../hosts/pacing-settings.ts";
import type { Limiter } from "../models/limiter.ts";
import { openSchemaThread } from "../offload/offload.ts";
import type { Offload } from "../offload/offload.ts";
import { openFirst } from "../../shared/once.ts";
import { openResources } from "../resources.ts";
import type { WorkerResources } from "../resources.ts";
import { mostEntailmentMs, mostRerankMs } from "../settings.ts";
import { openCallLog } from "./call-log.ts";
import type { InvestigateDependencies } from "./investigate/look-around.ts";
import type { InvestigationPlace } from "./investigate/open-investigations.ts";
import type { JudgeSettings } from "./judge/open-judge.ts";
import {
  atTier,
  modelNamedBy,
  openVerification,
  storedRounds,
} from "./verification/open-verification.ts";

/** One run of a claimed job. */
export type JobCall<Input> = {
  readonly job: ClaimedJob;
  readonly input: Input;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** What the run of a job works with. The code of a part is loaded when a run first asks for the part. */
export type OpenedRun = {
  readonly context: CommandContext;
  readonly database: Database;
  /** Limited to the documents that the job may read; calls of embedders wait for a slot of their host. */
  readonly resources: WorkerResources;
  /** What an answer is made with. */
  readonly pipeline: () => Promise<JudgedPipeline>;
  /** The same, with what tools reach. */
  readonly investigation: () => Promise<InvestigateDependencies>;
  readonly schemas: SchemaParts;
};

/** What compiles schemas that somebody wrote, and a thread for the work that they cause. */
type SchemaParts = { readonly compileSchema: SchemaCompiler; readonly offloadSchema: Offload };

/** What the runs of a worker share: a part is opened by the first run that needs it, and stays open. */
export function openRuns(
  context: CommandContext,
  database: Database,
  timing: Timing,
  place: InvestigationPlace,
): (call: JobCall<JobInput>) => JobCall<JobInput> & OpenedRun {
  const { config } = context;
  const shared = openResources(context, database);
  const pacing = createPacing({
    ...timing,
    database: database.within("claim"),
    settings: pacingSettingsOf(config),
  });
  const schemas = { compileSchema: schemaCompiler(), offloadSchema: openSchemaThread() };
  const investigations = openFirst(async () => {
    const { openInvestigations } = await import("./investigate/open-investigations.ts");
    return openInvestigations(context, database, place);
  });
  return (claimed) => {
    const { job, trace } = claimed;
    const call = { ...claimed, input: atTier(claimed.input, job.tier, config.verify) };
    const choice = shared.choiceOf(job.runId);
    const embedding = (laterMs: number): EmbedderLimiter => ({
      limiter: unlimitedIn(trace, pacing.forEmbedder(job.runId)),
      choice,
      mayTake(texts) {
        trace.mayTake(texts * config.embed.timeout_s * 1_000 + laterMs + REST_MS);
      },
    });
    const prefix = pathPrefixIn(call.input);
    const bound = shared.within(prefix === undefined ? [] : [prefix]);
    const resources = paceEmbedders(bound, embedding(0));
    const pipeline = async () => {
      const { models, search, ...parts } = await resources.pipeline();
      const paced = {
        ...parts,
        models: models.chosenBy(choice),
        search: searchIn(trace, search, { config, questions: embedding(mostRerankMs(config)) }),
        compareClaims: parts.compareClaims && timedIn(trace, parts.compareClaims, config),
      };
      const limiter = unlimitedIn(trace, pacing.forModel(job.runId));
      return withRows(paced, { call, config, database, resources, limiter });
    };
    return {
      ...call,
      ...{ context, database, resources, pipeline, schemas },
      investigation: async () =>
        (await investigations.get())({ job, resources, pipeline: await pipeline() }),
    };
  };
}

/** With what a judge of form nli compares by. */
type JudgedPipeline = PipelineDependencies & { readonly compareClaims: CompareClaims | undefined };

type RunRows = {
  readonly call: JobCall<JobInput>;
  readonly config: Config;
  readonly database: Database;
  readonly resources: WorkerResources;
  readonly limiter: Limiter;
};

/** A pipeline with the calls of earlier runs of its job, and with what its answer is verified by. */
async function withRows(
  parts: Omit<JudgedPipeline, "calls" | "verification" | "judge">,
  { call: { job, input }, config, database, resources, limiter }: RunRows,
): Promise<JudgedPipeline> {
  const { runs } = config;
  const { earlierForm, ...log } = openCallLog(database, job, {
    // What a model is worth is asked anew.
    reuse: input.kind === "examine" ? "never" : runs.reuse,
    keepReasoningDays: runs.keep_reasoning_days,
  });
  // What another model of verify.tiers was asked says nothing of this one.
  const form = await earlierForm(job.tier > 0 ? modelNamedBy(input) : undefined);
  const { settings } = parts;
  return {
    ...parts,
    settings:
      form === null ? settings : { ...settings, ask: { ...settings.ask, answer_form: form } },
    verification: openVerification(job, {
      config,
      deps: parts,
      listPaths: async () => (await resources.files()).listPaths(),
      listPathsNow: async () => (await resources.files()).listPathsNow(),
      stored: storedRounds(database, job.jobId),
    }),
    judge: judgeFor({ config, database, jobId: job.jobId, deps: parts }),
    calls: { ...log, limiter },
  };
}

/** Undefined where no judge is configured, and no model that could be one: its code is loaded by the first statement that it is asked of. */
function judgeFor(settings: JudgeSettings): AskJudge | undefined {
  const { verify, model } = settings.config;
  const isNobody = verify.judge.model === "same" && !hasWeights(model.provider);
  if (verify.judge.model === "off" || (isNobody && verify.judge.form !== "nli")) return undefined;
  const opened = openFirst(async () => (await import("./judge/open-judge.ts")).openJudge(settings));
  return async (...asked) => (await opened.get())(...asked);
}

/** Each call of the model has a limit of its own. */
const timedIn =
  (trace: RunTrace, compareClaims: CompareClaims, config: Config): CompareClaims =>
  (pairs, signal) => {
    trace.mayTake(mostEntailmentMs(pairs.length, config) + REST_MS);
    return compareClaims(pairs, signal);
  };

type SharedSearch = Awaited<ReturnType<WorkerResources["pipeline"]>>["search"];

/** What a reranker reads for one search has a limit of its own for each call. */
const searchIn =
  (
    trace: RunTrace,
    search: SharedSearch,
    { config, questions }: { readonly config: Config; readonly questions: EmbedderLimiter },
  ): PipelineDependencies["search"] =>
  (request, signal) => {
    trace.mayTake(mostRerankMs(config) + REST_MS);
    return search(request, signal, (embedder) => paceEmbedder(embedder, questions));
  };

/** A host has room for a run sooner or later; whoever waits looks again and again, and each look has its limit. */
const unlimitedIn = (trace: RunTrace, limiter: Limiter): Limiter => ({
  ...limiter,
  async acquireSlot(estimate, signal) {
    trace.mayTake(Infinity);
    try {
      return await limiter.acquireSlot(estimate, signal);
    } finally {
      trace.mayTake(REST_MS);
    }
  },
});
