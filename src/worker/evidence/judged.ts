import type { Refusal } from "../../shared/failure.ts";
import type { AnswerChecks } from "../../shared/run-result.ts";

/**
 * `message` is for the second try, and may hold words of the reply. `told` is for the record: places and rules, and no
 * words of the reply or the document.
 */
export type Fault = { readonly code: string; readonly message: string; readonly told?: string };

/** Facts about a check for the record of the run. */
type Facts = Readonly<Record<string, unknown>>;

/** What a judge finds of a reply. */
export type Judged<T> =
  | {
      readonly kind: "passed";
      readonly value: T;
      readonly checks: AnswerChecks;
      readonly facts?: Facts;
    }
  | {
      readonly kind: "violated";
      readonly faults: readonly Fault[];
      readonly checks: AnswerChecks;
      readonly facts?: Facts;
      /** The reply as a second try may be shown it; its beginning where a judge says nothing else. */
      readonly draft?: string;
    }
  | Refusal;
