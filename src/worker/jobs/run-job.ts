import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { JobInput, Kind } from "../../shared/job/job.ts";
import type { RunTrace } from "../run-trace.ts";
import type { RunEnd } from "../../shared/job/settlement.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { callParts } from "../answer/call-model.ts";
import { countHostFailures } from "../hosts/host-state.ts";
import type { Timing } from "../hosts/pacing.ts";
import { pacingSettingsOf } from "../hosts/pacing-settings.ts";
import type { InvestigationPlace } from "./investigate/open-investigations.ts";
import { openRuns } from "./open-run.ts";
import type { JobCall, OpenedRun } from "./open-run.ts";

/** Does the work of one claimed job. It returns refusals and throws faults. */
export type RunJob = (job: ClaimedJob, trace: RunTrace, signal: AbortSignal) => Promise<RunEnd>;

type RunOf<K extends Kind> = JobCall<Extract<JobInput, { readonly kind: K }>> & OpenedRun;

/** The first job of a kind loads the code of that kind. */
const KINDS: { readonly [K in Kind]: (run: RunOf<K>) => Promise<RunEnd> } = {
  async ask({ job: { jobId }, input, database, pipeline, trace, signal }) {
    const { answerQuestion } = await import("./ask.ts");
    const deps = await pipeline();
    const follows = input.options?.follows;
    const followed =
      follows === undefined
        ? undefined
        : await (await import("./follow.ts")).readFollowed(follows, database, deps.locate);
    return answerQuestion({ jobId, input, followed }, deps, trace, signal);
  },
  async summarize({ job: { jobId }, input, pipeline, trace, signal }) {
    const { summarizeFile } = await import("./summarize.ts");
    return summarizeFile({ jobId, input }, await pipeline(), trace, signal);
  },
  async investigate({ input, investigation, trace, signal }) {
    const { investigate } = await import("./investigate/investigate.ts");
    return investigate(input, await investigation(), trace, signal);
  },
  async check({ input, investigation, context, trace, signal }) {
    const { checkClaim } = await import("./check.ts");
    const { steps } = context.config.verify;
    return checkClaim(input, { ...(await investigation()), steps }, trace, signal);
  },
  async examine({ job: { jobId }, input, context, database, pipeline, trace, signal }) {
    const { examineModel } = await import("./judge/examine.ts");
    const deps = await pipeline();
    const parts = callParts(deps, { trace, signal });
    return examineModel({ config: context.config, database, deps, jobId, input, parts });
  },
  async chat({ job: { jobId }, input, pipeline, trace, signal }) {
    const { chatOnce } = await import("./chat.ts");
    return chatOnce({ jobId, input }, await pipeline(), trace, signal);
  },
  async extract({ input, pipeline, schemas, trace, signal }) {
    const { extractFile } = await import("./extract.ts");
    return extractFile({ input }, { ...(await pipeline()), ...schemas }, trace, signal);
  },
  async digest(run) {
    const { runDigest } = await import("./digest.ts");
    return runDigest(run, run.resources, await run.pipeline());
  },
  async command({ input, context, trace, signal }) {
    const { runCommand } = await import("./command.ts");
    // A process of our own that has its own limits.
    trace.mayTake(Infinity);
    return runCommand(input, context, signal);
  },
  async notify({ input, trace, signal, ...run }) {
    const { notifyHook } = await import("./notify.ts");
    return notifyHook(input, run, trace, signal);
  },
  async sync(run) {
    const { runSync } = await import("./sync.ts");
    return runSync(run, run.resources, run.context);
  },
  async index(run) {
    const { runIndex } = await import("./reindex.ts");
    return runIndex(run, run.resources);
  },
  async ocr(run) {
    const { readPictures } = await import("./read-pictures.ts");
    return readPictures(run, run.resources);
  },
  async embed({ input, ...run }) {
    const { runEmbedChunks, runEmbedText } = await import("./embed.ts");
    return "chunks" in input
      ? runEmbedChunks({ ...run, input }, run.resources)
      : runEmbedText({ ...run, input }, run.resources);
  },
};

const runKind = <K extends Kind>(kind: K, run: RunOf<K>): Promise<RunEnd> => KINDS[kind](run);

/** Runs a job by the code of its kind. @param place the surroundings of investigations; only tests pass another */
export function createRunJob(
  context: CommandContext,
  database: Database,
  timing: Timing = {},
  place: InvestigationPlace = {},
): RunJob {
  const openRun = openRuns(context, database, timing, place);
  const { config, logger } = context;
  const counted = { db: database, settings: pacingSettingsOf(config), logger };
  return (job, trace, signal) =>
    countHostFailures(job, counted, () => {
      const run = openRun({ job, input: job.input, trace, signal });
      return runKind(run.input.kind, run);
    });
}
