import type { Refusal } from "../../shared/failure.ts";
import type { AnswerChecks, ClaimRecord } from "../../shared/job/run-result.ts";

/**
 * `message` goes into the second try's prompt and may hold words of the reply. `told` goes into the record: it names places and
 * rules, and holds no words of the reply or the document.
 */
export type Fault = {
  readonly code: string;
  readonly message: string;
  readonly forRecord?: string;
};

/** Facts about a check for the record of the run. */
type Facts = Readonly<Record<string, unknown>>;

/** The result of checking a reply. */
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
      /** The reply as the second try's prompt shows it; where it is left out, the prompt shows the reply's beginning. */
      readonly draft?: string;
      /** The reply has not the requested form, so that its content was not judged. */
      readonly hasWrongForm?: true;
      /** The part of the reply that is right, with its claims: it is the answer where a second try is no better. */
      readonly mended?: { readonly value: T; readonly claims: readonly ClaimRecord[] };
    }
  | Refusal;
