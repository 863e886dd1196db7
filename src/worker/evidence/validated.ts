import type { Refusal } from "../../shared/failure.ts";
import type { AnswerChecks, ClaimRecord } from "../../shared/job/run-result.ts";

/**
 * `message` is for the second try, and may hold words of the reply. `told` is for the record: places and rules, and no
 * words of the reply or the document.
 */
export type Fault = { readonly code: string; readonly message: string; readonly told?: string };

/** Facts about a check for the record of the run. */
type Facts = Readonly<Record<string, unknown>>;

/** What a judge finds of a reply. */
export type Validated<T> =
  | {
      readonly kind: "passed";
      readonly value: T;
      readonly checks: AnswerChecks;
      readonly claims?: readonly ClaimRecord[];
      readonly facts?: Facts;
    }
  | {
      readonly kind: "violated";
      readonly faults: readonly Fault[];
      readonly checks: AnswerChecks;
      readonly claims?: readonly ClaimRecord[];
      readonly facts?: Facts;
      /** The reply as a second try may be shown it; its beginning where a judge says nothing else. */
      readonly draft?: string;
      /** It is not of the form that was asked for: what it says was not judged. */
      readonly isOfNoForm?: true;
      /** What is right of it, which stands where a second try is no better; with its claims. */
      readonly mended?: { readonly value: T; readonly claims: readonly ClaimRecord[] };
    }
  | Refusal;
