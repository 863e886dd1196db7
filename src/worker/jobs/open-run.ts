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
import { lazyOpen } from "../../shared/once.ts";
import { openResources } from "../resources.ts";
import type { WorkerResources } from "../resources.ts";
import { mostEntailmentMs, mostRerankMs } from "../settings.ts";
import { openCallLog } from "./call-log.ts";
import type { InvestigateDependencies } from "./investigate/look-around.ts";
import type { InvestigationPlace } from "./investigate/open-investigations.ts";
import type { JudgeSettings } from "./judge/open-judge.ts";
import {
  withTierModel,
  modelNamedBy,
  openVerification,
  loadRounds,
} from "./verification/open-verification.ts";

/** One run of a claimed job. */
export type JobCall<Input> = {
  readonly job: ClaimedJob;
  readonly input: Input;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** The parts that the run of a job uses. The code of a part is loaded when a run first needs it. */
export type OpenedRun = {
  readonly context: CommandContext;
  readonly database: Database;
  /** Limited to the documents that the job may read; calls of embedders wait for a slot on their host. */
  readonly resources: WorkerResources;
  /** The pipeline that makes answers. */
  readonly pipeline: () => Promise<JudgedPipeline>;
  /** The same, with the tools of an investigation. */
  readonly investigation: () => Promise<InvestigateDependencies>;
  readonly schemas: SchemaParts;
};

/** The compiler of schemas that users wrote, and a thread for the work of such schemas. */
type SchemaParts = { readonly compileSchema: SchemaCompiler; readonly offloadSchema: Offload };

/** The parts that runs of a worker share: the first run that needs a part opens it, and it stays open. */
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
  const investigations = lazyOpen(async () => {
    const { openInvestigations } = await import("./investigate/open-investigations.ts");
    return openInvestigations(context, database, place);
  });
  return (claimed) => {
    const { job, trace } = claimed;
    const call = { ...claimed, input: withTierModel(claimed.input, job.tier, config.verify) };
    const choice = shared.choiceOf(job.runId);
    const embedding = (laterMs: number): EmbedderLimiter => ({
      limiter: withoutTimeLimit(trace, pacing.forEmbedder(job.runId)),
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
        search: withRerankTime(trace, search, {
          config,
          questions: embedding(mostRerankMs(config)),
        }),
        compareClaims: parts.compareClaims && withCompareTime(trace, parts.compareClaims, config),
      };
      const limiter = withoutTimeLimit(trace, pacing.forModel(job.runId));
      return withJobState(paced, { call, config, database, resources, limiter });
    };
    return {
      ...call,
      ...{ context, database, resources, pipeline, schemas },
      investigation: async () =>
        (await investigations.get())({ job, resources, pipeline: await pipeline() }),
    };
  };
}

/** With the comparison that a judge of form nli uses. */
type JudgedPipeline = PipelineDependencies & { readonly compareClaims: CompareClaims | undefined };

type JobState = {
  readonly call: JobCall<JobInput>;
  readonly config: Config;
  readonly database: Database;
  readonly resources: WorkerResources;
  readonly limiter: Limiter;
};

/** Adds the calls of earlier runs of the job, and the verification of its answer. */
async function withJobState(
  parts: Omit<JudgedPipeline, "calls" | "verification" | "judge">,
  { call: { job, input }, config, database, resources, limiter }: JobState,
): Promise<JudgedPipeline> {
  const { runs } = config;
  const { jobId, dispatch } = job;
  const { earlierForm, ...log } = openCallLog(database, job, {
    // An examination measures the model itself, so stored replies don't count.
    reuse: input.kind === "examine" ? "never" : runs.reuse,
    keepReasoningDays: runs.keep_reasoning_days,
  });
  // The form requested of another model of verify.tiers says nothing about this model.
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
      stored: loadRounds(database, job.jobId),
    }),
    judge: judgeFor({ config, database, jobId, isRepeated: dispatch > 1, deps: parts }),
    calls: { ...log, limiter },
  };
}

/** Undefined if no judge is configured, or no model that could be one. The code of a judge is loaded for the first statement. */
function judgeFor(settings: JudgeSettings): AskJudge | undefined {
  const { verify, model } = settings.config;
  const isNobody = verify.judge.model === "same" && !hasWeights(model.provider);
  if (verify.judge.model === "off" || (isNobody && verify.judge.form !== "nli")) return undefined;
  const opened = lazyOpen(async () => (await import("./judge/open-judge.ts")).openJudge(settings));
  return async (...asked) => (await opened.get())(...asked);
}

/** Extends the limit of the run by the time of each comparison. */
const withCompareTime =
  (trace: RunTrace, compareClaims: CompareClaims, config: Config): CompareClaims =>
  (pairs, signal) => {
    trace.mayTake(mostEntailmentMs(pairs.length, config) + REST_MS);
    return compareClaims(pairs, signal);
  };

type SharedSearch = Awaited<ReturnType<WorkerResources["pipeline"]>>["search"];

/** Extends the limit of the run by the time of the reranker for each search. */
const withRerankTime =
  (
    trace: RunTrace,
    search: SharedSearch,
    { config, questions }: { readonly config: Config; readonly questions: EmbedderLimiter },
  ): PipelineDependencies["search"] =>
  (request, signal) => {
    trace.mayTake(mostRerankMs(config) + REST_MS);
    return search(request, signal, (embedder) => paceEmbedder(embedder, questions));
  };

/** Waits without limit for a slot, because a host has room sooner or later; each try of the limiter has its own limit. */
const withoutTimeLimit = (trace: RunTrace, limiter: Limiter): Limiter => ({
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
