import { isErrorCode } from "../../shared/failure.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import type { RunEvent } from "../../shared/job/run-result.ts";
import { contradictsAnswer } from "../../shared/job/claims.ts";
import type { CheckRecord } from "../../shared/job/verification.ts";
import { boundedLabel } from "../../shared/metrics/metrics.ts";
import type { Definitions, Labels, Metrics } from "../../shared/metrics/metrics.ts";
import type { FinishedRun } from "../delivery/process-delivery.ts";

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];

/** Metrics of the runs of one worker since it started. */
export const RUN_METRICS: Definitions = {
  nightdesk_runs_total: {
    kind: "counter",
    help: "Runs that ended, by kind, what became of them, code and the grade of the worst claim.",
    labels: ["kind", "outcome", "code", "grade"],
  },
  nightdesk_runs_lost_total: {
    kind: "counter",
    help: "Runs whose result was dropped, because their lease was lost or their batch deleted.",
    labels: ["kind"],
  },
  nightdesk_run_seconds: {
    kind: "histogram",
    help: "How long runs took.",
    labels: ["kind"],
    buckets: SECONDS,
  },
  nightdesk_step_seconds: {
    kind: "histogram",
    help: "How long the steps of runs took.",
    labels: ["step"],
    buckets: SECONDS,
  },
  nightdesk_model_seconds: {
    kind: "histogram",
    help: "How long calls of models took that were asked, by model and pass; decompose, verdict and audit are verification.",
    labels: ["model", "pass"],
    buckets: SECONDS,
  },
  nightdesk_model_tokens_total: {
    kind: "counter",
    help: "Tokens that models read and wrote, by model and pass.",
    labels: ["model", "pass", "direction"],
  },
  nightdesk_model_calls_reused_total: {
    kind: "counter",
    help: "Replies that were taken over instead of asked for.",
    labels: ["origin"],
  },
  nightdesk_evidence_total: {
    kind: "counter",
    help: "Pieces of evidence that runs read.",
    labels: ["verdict"],
  },
  nightdesk_claims_total: {
    kind: "counter",
    help: "Statements of drafts by grade.",
    labels: ["grade"],
  },
  nightdesk_tool_calls_total: {
    kind: "counter",
    help: "Calls of tools, by tool and code; none where it was carried out.",
    labels: ["tool", "code"],
  },
  nightdesk_audit_points: {
    kind: "histogram",
    help: "Points of auditors from 1 to 4, after caps; 3 passes. A reply that could not be read has none.",
    labels: [],
    buckets: [1, 2, 3, 4],
  },
  nightdesk_audits_unreadable_total: {
    kind: "counter",
    help: "Audits of which no reply could be read.",
    labels: [],
  },
  nightdesk_checks_total: {
    kind: "counter",
    help: "Checks of answers, by what they came to: confirmed, contradicted, unknown or open.",
    labels: ["verdict"],
  },
  nightdesk_policy_hints_total: {
    kind: "counter",
    help: "Hints that rules gave to models of investigations, by rule.",
    labels: ["rule"],
  },
  nightdesk_hooks_total: {
    kind: "counter",
    help: "Calls of on_batch_end, by target (command, webhook or write_back), what is told, outcome and code.",
    labels: ["target", "event", "outcome", "code"],
  },
  nightdesk_verifications_total: {
    kind: "counter",
    help: "Answers that were verified, by what it came to.",
    labels: ["state"],
  },
};

export type RunMetrics = {
  /** @param end the result of `settleFinished` */
  ended(run: FinishedRun, end: "settled" | "lost"): void;
};

const MOST_MODELS = 30;
const MOST_TOOLS = 60;

/** Counts results of runs from their records. */
export function runMetrics({ record }: Pick<Metrics, "record">): RunMetrics {
  const modelLabel = boundedLabel(MOST_MODELS);
  const toolLabel = boundedLabel(MOST_TOOLS);
  const add = (name: string, labels: Labels, value = 1) => {
    record({ name, labels, value });
  };
  return {
    ended({ job, runMs, settlement, record: run }, end) {
      const { kind } = job.input;
      if (end === "lost") {
        add("nightdesk_runs_lost_total", { kind });
        return;
      }
      const code = "code" in settlement ? codeLabel(settlement.code) : "none";
      const grade = worstOf(run.claims.map((claim) => claim.grade));
      add("nightdesk_runs_total", { kind, outcome: settlement.kind, code, grade });
      add("nightdesk_run_seconds", { kind }, runMs / 1_000);
      for (const { step, durationMs, detail } of run.events) {
        add("nightdesk_step_seconds", { step }, durationMs / 1_000);
        for (const [rule, hints] of hintsIn(detail))
          add("nightdesk_policy_hints_total", { rule }, hints);
      }
      for (const { origin, model, pass, durationMs, ...tokens } of run.replies) {
        if (origin !== "asked") {
          add("nightdesk_model_calls_reused_total", { origin });
          continue;
        }
        const of = { model: modelLabel(model), pass };
        add("nightdesk_model_seconds", of, durationMs / 1_000);
        const { promptTokens: read, completionTokens: written } = tokens;
        add("nightdesk_model_tokens_total", { ...of, direction: "read" }, read);
        add("nightdesk_model_tokens_total", { ...of, direction: "written" }, written);
      }
      for (const { admitted } of run.evidence)
        add("nightdesk_evidence_total", { verdict: admitted ? "admitted" : "rejected" });
      for (const claim of run.claims) add("nightdesk_claims_total", { grade: claim.grade });
      for (const { name, errorCode } of run.toolCalls)
        add("nightdesk_tool_calls_total", {
          tool: toolLabel(name),
          code: errorCode === null ? "none" : codeLabel(errorCode),
        });
      if (job.input.kind === "notify") {
        const { target, event } = job.input;
        add("nightdesk_hooks_total", { target, event, outcome: settlement.kind, code });
      }
      for (const { score } of run.verification.audits) {
        if (score === null) add("nightdesk_audits_unreadable_total", {});
        else add("nightdesk_audit_points", {}, score);
      }
      for (const check of run.verification.checks)
        add("nightdesk_checks_total", { verdict: verdictOf(check) });
      const { state } = run.verification;
      if (state !== "off" && state !== "pending") add("nightdesk_verifications_total", { state });
    },
  };
}

function verdictOf(check: CheckRecord): string {
  if (check.state === "open" || check.state === "unknown") return check.state;
  return contradictsAnswer(check) ? "contradicted" : "confirmed";
}

/** The number of hints by rule, from the details of the step look_around. */
function hintsIn({ hints }: RunEvent["detail"]): readonly (readonly [string, number])[] {
  const counts = isRecord(hints) ? Object.entries(hints) : [];
  return counts.flatMap(([rule, count]) =>
    typeof count === "number" ? [[rule, count] as const] : [],
  );
}

const codeLabel = (code: string): string => (isErrorCode(code) ? code : "other");

const WORST_FIRST = ["unsupported", "unconfirmed", "supported"] as const;

const worstOf = (grades: readonly string[]): string =>
  WORST_FIRST.find((grade) => grades.includes(grade)) ?? "none";
