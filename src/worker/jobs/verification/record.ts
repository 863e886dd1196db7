import type { RunTrace } from "../../../shared/run-trace.ts";
import { NOT_VERIFIED } from "../../../shared/verification.ts";
import type {
  CheckRecord,
  ConstraintRecord,
  CoverageRecord,
  JudgementRecord,
  StoredVerification,
  VerificationRecord,
} from "../../../shared/verification.ts";

/** What is put on record of all rounds of this run, as it comes. */
export type RecordOfAll = {
  nextRound(stored: StoredVerification): number;
  checked(checks: readonly CheckRecord[], coverage: readonly CoverageRecord[]): void;
  judged(judgement: JudgementRecord): void;
  pending(): void;
  end(state: "passed" | "failed" | "unverified", constraints?: readonly ConstraintRecord[]): void;
};

export function openRecord(trace: Pick<RunTrace, "verification">): RecordOfAll {
  let record: VerificationRecord = NOT_VERIFIED;
  const put = (change: Partial<VerificationRecord>): void => {
    record = { ...record, ...change };
    trace.verification(record);
  };
  return {
    nextRound: (stored) =>
      1 +
      Math.max(
        -1,
        ...stored.checks.map((check) => check.record.round),
        ...record.checks.map(({ round }) => round),
      ),
    checked(checks, coverage) {
      put({
        checks: [...record.checks, ...checks],
        coverage: [...record.coverage, ...coverage],
      });
    },
    judged(judgement) {
      put({ judgements: [...record.judgements, judgement] });
    },
    pending() {
      put({ state: "pending" });
    },
    end(state, constraints = []) {
      put({ state, constraints });
    },
  };
}
