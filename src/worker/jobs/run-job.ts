import type { CommandContext } from "../../shared/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import { pathPrefixIn } from "../../shared/job.ts";
import { schemaCompiler } from "../../shared/json-schema.ts";
import type { Outcome } from "../../shared/run-result.ts";
import { REST_MS } from "../../shared/run-trace.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { openSchemaThread } from "../offload/offload.ts";
import { openCallLog } from "./call-log.ts";
import { countHostFailures } from "../hosts/host-state.ts";
import { createPacing, paceEmbedder, paceEmbedders } from "../hosts/pacing.ts";
import type { EmbedderLimiter, Timing } from "../hosts/pacing.ts";
import { pacingSettingsOf } from "../hosts/pacing-settings.ts";
import type { CompareClaims, PipelineDependencies } from "../evidence/types.ts";
import { openMcpServers } from "../mcp-client/open-servers.ts";
import type { Limiter } from "../models/limiter.ts";
import { admitInputs } from "../sandbox/shell/inputs.ts";
import type { ProbedMachine } from "../sandbox/shell/probe.ts";
import { TOOLS } from "../tools/registry.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { openResources } from "../resources.ts";
import { mostEntailmentMs, mostRerankMs } from "../settings.ts";
import { openWeb } from "../web/open-web.ts";
import { answerQuestion } from "./ask.ts";
import { chatOnce } from "./chat.ts";
import { checkClaim } from "./check.ts";
import { runCommand } from "./command.ts";
import { runDigest } from "./digest.ts";
import { runEmbedChunks, runEmbedText } from "./embed.ts";
import { extractFile } from "./extract.ts";
import { investigate } from "./investigate/investigate.ts";
import type { AdmitFiles } from "./investigate/shell-door.ts";
import { openStepLog, outputLimitsOf } from "./investigate/step-log.ts";
import { notifyHook } from "./notify.ts";
import { runIndex } from "./reindex.ts";
import { summarizeFile } from "./summarize.ts";
import {
  atTier,
  modelNamedBy,
  openVerification,
  storedRounds,
} from "./verification/open-verification.ts";

/** Does the work of one claimed job. Refusals are returned, faults are thrown. */
export type RunJob = (job: ClaimedJob, trace: RunTrace, signal: AbortSignal) => Promise<Outcome>;

/**
 * Binds each kind of job to the code that does it. What they share is opened at first use, and kept.
 * @param given what an investigation may call, as far as its grant goes, and where its commands run: others only in tests
 */
export function createRunJob(
  context: CommandContext,
  database: Database,
  timing: Timing = {},
  {
    registry = TOOLS,
    machine,
  }: { readonly registry?: ToolRegistry; readonly machine?: ProbedMachine | undefined } = {},
): RunJob {
  const shared = openResources(context, database, machine);
  const pacingSettings = pacingSettingsOf(context.config);
  const schemas = { compileSchema: schemaCompiler(), offloadSchema: openSchemaThread() };
  const pacing = createPacing({
    ...timing,
    database: database.within("claim"),
    settings: pacingSettings,
  });
  const { embed, runs, verify } = context.config;
  const { config, invocation } = context;
  const web = openWeb({ config, env: invocation.env, database: database.within("claim") });
  const mcp = openMcpServers({ config, env: invocation.env, version: invocation.version });
  const runKind: RunJob = async (job, trace, signal) => {
    const { jobId } = job;
    const input = atTier(job.input, job.tier, verify);
    const choice = shared.choiceOf(job.runId);
    const embedding = (laterMs: number): EmbedderLimiter => ({
      limiter: unlimitedIn(trace, pacing.forEmbedder(job.runId)),
      choice,
      mayTake(texts) {
        trace.mayTake(texts * embed.timeout_s * 1_000 + laterMs + REST_MS);
      },
    });
    const prefix = pathPrefixIn(input);
    const bound = shared.within(prefix === undefined ? [] : [prefix]);
    const resources = paceEmbedders(bound, embedding(0));
    const questions = embedding(mostRerankMs(config));
    const listPaths = async () => (await resources.files()).listPaths();
    const looking = async () => ({
      ...(await pipeline()),
      tools: config.tools,
      registry,
      log: openStepLog(database.within("lookup"), job, outputLimitsOf(config)),
      listPaths,
      web,
      mcp,
      admitFiles: async (...[paths, quota]: Parameters<AdmitFiles>) =>
        admitInputs(await resources.sandbox(), paths, quota),
      probeShell: resources.shell,
    });
    const pipeline = async () => {
      const { compareClaims, models, search, ...others } = await resources.pipeline();
      const parts = {
        ...others,
        models: models.chosenBy(choice),
        search: searchIn(
          trace,
          (request, ended) => search(request, ended, (one) => paceEmbedder(one, questions)),
          mostRerankMs(config),
        ),
      };
      const { earlierForm, ...log } = openCallLog(database, job, {
        reuse: runs.reuse,
        keepReasoningDays: runs.keep_reasoning_days,
      });
      // What another model of verify.tiers was asked says nothing of this one.
      const form = await earlierForm(job.tier > 0 ? modelNamedBy(input) : undefined);
      const verification = openVerification(job, {
        config,
        deps: parts,
        listPaths,
        listPathsNow: async () => (await resources.files()).listPathsNow(),
        stored: storedRounds(database, jobId),
      });
      const { settings } = parts;
      return {
        ...parts,
        settings:
          form === null ? settings : { ...settings, ask: { ...settings.ask, answer_form: form } },
        verification,
        compareClaims: compareClaims && timedIn(trace, compareClaims, config),
        calls: {
          ...log,
          limiter: unlimitedIn(trace, pacing.forModel(job.runId)),
        },
      };
    };
    switch (input.kind) {
      case "ask":
        return answerQuestion({ jobId, input }, await pipeline(), trace, signal);
      case "summarize":
        return summarizeFile({ jobId, input }, await pipeline(), trace, signal);
      case "investigate":
        return investigate(input, await looking(), trace, signal);
      case "check":
        return checkClaim(input, { ...(await looking()), steps: verify.steps }, trace, signal);
      case "chat":
        return chatOnce({ jobId, input }, await pipeline(), trace, signal);
      case "extract":
        return extractFile({ input }, { ...(await pipeline()), ...schemas }, trace, signal);
      case "digest":
        return runDigest({ job, input, trace, signal }, resources, await pipeline());
      case "command":
        // A process of ours, with limits of its own.
        trace.mayTake(Infinity);
        return runCommand(input, context, signal);
      case "notify":
        return notifyHook(input, { context, database }, trace, signal);
      case "index":
        return runIndex({ job, input, trace, signal }, resources);
      case "embed":
        return "chunks" in input
          ? runEmbedChunks({ job, input, trace, signal }, resources)
          : runEmbedText({ job, input, trace, signal }, resources);
    }
  };
  return (job, trace, signal) =>
    countHostFailures(job, { db: database, settings: pacingSettings, logger: context.logger }, () =>
      runKind(job, trace, signal),
    );
}

/** Each call of the model has a limit of its own. */
const timedIn =
  (trace: RunTrace, compareClaims: CompareClaims, config: Config): CompareClaims =>
  (pairs, signal) => {
    trace.mayTake(mostEntailmentMs(pairs.length, config) + REST_MS);
    return compareClaims(pairs, signal);
  };

/** What a reranker reads for one search has a limit of its own for each call. */
const searchIn =
  (
    trace: RunTrace,
    search: PipelineDependencies["search"],
    rerankMs: number,
  ): PipelineDependencies["search"] =>
  (request, signal) => {
    trace.mayTake(rerankMs + REST_MS);
    return search(request, signal);
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
