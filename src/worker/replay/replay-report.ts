import type { Difference } from "./compare-run.ts";
import { compareRun } from "./compare-run.ts";
import type { Prospect } from "./prospect.ts";
import { explainStop } from "./explain-stop.ts";
import type { RepeatedCall } from "./recorded-calls.ts";
import type { RecordedRun, Repetition } from "./replay-run.ts";

/** What a replay found. */
export type Report = {
  /** The repetition went through the same calls to the same result. */
  readonly same: boolean;
  readonly runId: string;
  readonly jobId: string;
  readonly kind: string;
  /** How the run ended. */
  readonly state: string;
  /** Files that were read again. */
  readonly files: number;
  /** Jobs that a digest tells of, which were looked at again. */
  readonly jobs: number;
  readonly calls: readonly RepeatedCall[];
  readonly callsThen: number;
  /** Why the repetition could not go on; null where it came to an end. */
  readonly stopped: string | null;
  /** The fault in which it ended; null where there was none. */
  readonly broke: string | null;
  readonly differences: readonly Difference[];
  /** What would differ if the job ran again now. */
  readonly now: readonly Prospect[];
};

/** Puts together what a replay found. */
export function reportOf(
  { run, input, calls, texts, children }: RecordedRun,
  repetition: Repetition,
  now: readonly Prospect[],
): Report {
  const { end, calls: repeated } = repetition;
  const used = run.calls.map(({ request_sha256: request }) => request);
  const ordered = used.flatMap((request) =>
    calls.filter(({ requestSha256 }) => requestSha256 === request),
  );
  const stopped = end.kind === "stopped" ? explainStop(end.at, ordered, repeated) : null;
  const differences = compareRun(run, repetition);
  return {
    same: end.kind === "ended" && differences.length === 0 && repeated.length === run.calls.length,
    runId: run.run_id,
    jobId: run.job_id,
    kind: input.kind,
    state: run.error_code === null ? run.state : `${run.state} with ${run.error_code}`,
    files: texts.size,
    jobs: children.length,
    calls: repeated,
    callsThen: run.calls.length,
    stopped,
    broke: end.kind === "broke" ? `${end.code}: ${end.message}` : null,
    // Where it stopped, all that would have come later is missing, and that is said already.
    differences: stopped === null ? differences : [],
    now,
  };
}

/** The same as JSON. */
export const replayJson = (report: Report): Record<string, unknown> => ({
  ok: report.same,
  run_id: report.runId,
  job_id: report.jobId,
  kind: report.kind,
  state: report.state,
  repeated: {
    same: report.same,
    files: report.files,
    jobs: report.jobs,
    calls_then: report.callsThen,
    calls: report.calls.map(({ pass, template, promptSha256, request }) => ({
      pass,
      prompt_template: template,
      prompt_sha256: promptSha256,
      request,
    })),
    stopped: report.stopped,
    broke: report.broke,
    differences: report.differences,
  },
  now: report.now,
});
