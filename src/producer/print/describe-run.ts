import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";
import { describeCalls } from "./describe-run-calls.ts";
import { describeChecks, describeParts } from "./describe-run-checks.ts";
import { describeCitations, describeEvidence, describeToolCalls } from "./describe-run-evidence.ts";
import {
  describeHead,
  describeInput,
  describeModels,
  describeNotes,
  describeTimeline,
} from "./describe-run-head.ts";
import { describeOutput } from "./describe-output.ts";
import type { Line } from "../../shared/styled-text.ts";
import { section } from "./run-text.ts";
import type { Extent } from "./run-text.ts";

/** A run so that an auditor needs nothing else: what was asked, step by step what was done, what was read and what came of it. */
export const describeRun = (
  run: RunDetail,
  extent: Extent,
  zone: string | null,
): readonly Line[] => [
  ...describeHead(run, zone),
  ...section("Asked", describeInput(run, extent)),
  ...section("Timeline", describeTimeline(run, extent)),
  ...section("Models", describeModels(run)),
  ...section("Durable notes in the prompts", describeNotes(run, extent)),
  ...section("Model calls", describeCalls(run, extent)),
  ...section("Tool calls", describeToolCalls(run, extent)),
  ...section("Evidence", describeEvidence(run, extent)),
  ...describeParts(run, extent),
  ...describeChecks(run, extent),
  ...section("Summary", run.summary === null ? [] : describeOutput(run.kind, run.summary)),
  ...section("Citations", describeCitations(run)),
  ...section("Answer", run.answer === null ? [] : run.answer.split(/\r?\n/)),
  ...section(run.state === "refused" ? "Refused" : "Error", describeError(run)),
];

const describeError = ({
  error_code: code,
  error_message: message,
}: RunDetail): readonly string[] => (code === null ? [] : [`${code}: ${message ?? ""}`]);
