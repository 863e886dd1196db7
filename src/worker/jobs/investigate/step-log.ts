import type { Config } from "../../../shared/config/schema.ts";
import { RunAborted } from "../../../shared/job/settlement.ts";
import type { Database } from "../../../shared/store/connection/database.ts";
import {
  requestApproval,
  selectApproval,
  startStep,
  withdrawRequest,
} from "../../../shared/store/investigations/approvals.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  StandingDecision,
} from "../../../shared/store/investigations/approvals.ts";
import { selectBatchOutputs } from "../../../shared/store/investigations/artifacts.ts";
import {
  countRuleHit,
  selectCommandRules,
} from "../../../shared/store/investigations/command-rules.ts";
import type { StoredCommandRule } from "../../../shared/store/investigations/command-rules.ts";
import { openGrant, selectGrant } from "../../../shared/store/investigations/grants.ts";
import type { Grant, NewGrant } from "../../../shared/store/investigations/grants.ts";
import {
  beginModelStep,
  beginToolStep,
  endModelStep,
  endToolStep,
  insertStep,
  selectLastState,
  selectOutput,
  selectSteps,
  settleOpenStep,
} from "../../../shared/store/investigations/steps.ts";
import type {
  NewToolStep,
  StepDetail,
  StepWriter,
  StoredState,
  StoredStep,
  ToolStepBegun,
  ToolStepEnd,
} from "../../../shared/store/investigations/steps.ts";

/**
 * The steps of one investigation, each committed before and after. A run that has lost its job can't write: its next write
 * throws RunAborted.
 */
export type StepLog = {
  /** The grant that an earlier run of the job received. */
  findGrant(): Promise<Grant | undefined>;
  openGrant(grant: NewGrant): Promise<Grant>;
  load(): Promise<readonly StoredStep[]>;
  readonly output: (
    step: number,
    stream: "result" | "stdout" | "stderr",
  ) => Promise<Buffer | undefined>;
  /** Writes a step that is complete at once: the action of a rule, a compaction, or the end. */
  insert(ordinal: number, kind: "compaction" | "policy" | "end", detail: StepDetail): Promise<void>;
  beginModel(ordinal: number, requestSha256: string): Promise<void>;
  endModel(ordinal: number, state: "done" | "failed", detail: StepDetail): Promise<void>;
  /** Checks the call by the grant; only the result `begun` means that the step exists. */
  beginTool(step: NewToolStep): Promise<Exclude<ToolStepBegun, "lost">>;
  endTool(ordinal: number, end: ToolStepEnd): Promise<void>;
  /** Bytes that the outputs of its batch may still take; 0 if there is no room. */
  outputRoom(): Promise<number>;
  settleOpen(ordinal: number, state: "skipped" | "uncertain"): Promise<void>;
  requestApproval(request: ApprovalRequest): Promise<StandingDecision | "waiting">;
  /** The latest state that a call of the shell saved. */
  lastState(): Promise<StoredState | undefined>;
  /** The rules for commands that are in force now. */
  commandRules(): Promise<readonly StoredCommandRule[]>;
  countRule(decisionId: string): Promise<void>;
  approvalOf(step: number): Promise<ApprovalAnswer | undefined>;
  /** Starts a step that waited, before its call is made. */
  start(step: number): Promise<void>;
  /** Withdraws the request of a step that a rule answers, and starts the step; false if a person has answered meanwhile. */
  withdrawRequest(step: number): Promise<boolean>;
};

/** How long outputs are stored, and how many bytes of them per batch. */
type OutputLimits = {
  /** null: as long as their job exists. */
  readonly keepDays: number | null;
  readonly batchBytes: number;
};

const MEGABYTE = 1_000_000;

export const outputLimitsOf = ({ runs, tools }: Pick<Config, "runs" | "tools">): OutputLimits => ({
  keepDays: runs.keep_outputs_days,
  batchBytes: tools.limits.batch_artifact_mb * MEGABYTE,
});

export function openStepLog(database: Database, writer: StepWriter, limits: OutputLimits): StepLog {
  const held = async (write: Promise<boolean>): Promise<void> => {
    if (!(await write)) throw new RunAborted("lease_lost");
  };
  return {
    findGrant: () => selectGrant(database, writer.jobId),
    async openGrant(grant) {
      const opened = await openGrant(database, writer, grant);
      if (opened === undefined) throw new RunAborted("lease_lost");
      return opened;
    },
    load: () => selectSteps(database, writer.jobId),
    output: (step, stream) => selectOutput(database, writer.jobId, step, stream),
    insert: (ordinal, kind, detail) =>
      held(insertStep(database, writer, { ordinal, kind, detail })),
    beginModel: (ordinal, requestSha256) =>
      held(beginModelStep(database, writer, ordinal, requestSha256)),
    endModel: (ordinal, state, detail) =>
      held(endModelStep(database, writer, ordinal, { state, detail })),
    async beginTool(step) {
      const begun = await beginToolStep(database, writer, step);
      if (begun === "lost") throw new RunAborted("lease_lost");
      return begun;
    },
    endTool: (ordinal, end) =>
      held(endToolStep(database, writer, ordinal, { ...end, keepOutputsDays: limits.keepDays })),
    async outputRoom() {
      const { bytes } = await selectBatchOutputs(database, writer.jobId);
      return Math.max(0, limits.batchBytes - bytes);
    },
    settleOpen: (ordinal, state) => held(settleOpenStep(database, writer, ordinal, state)),
    async requestApproval(request) {
      const answer = await requestApproval(database, writer, request);
      if (answer === "lost") throw new RunAborted("lease_lost");
      return answer;
    },
    lastState: () => selectLastState(database, writer.jobId),
    commandRules: () => selectCommandRules(database, writer.jobId),
    countRule: (decisionId) => countRuleHit(database, decisionId),
    approvalOf: (step) => selectApproval(database, writer.jobId, step),
    start: (step) => held(startStep(database, writer, step)),
    withdrawRequest: (step) => withdrawRequest(database, writer, step),
  };
}
