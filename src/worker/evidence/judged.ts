import type { Refusal } from "../../shared/failure.ts";
import type { AnswerChecks } from "../../shared/run-result.ts";

/**
 * `message` is for the second try, and may hold words of the reply. `told` is for the record: places and rules, and no
 * words of the reply or the document.
 */
export type Fault = { readonly code: string; readonly message: string; readonly told?: string };

/** What a reply was found to be. */
export type Judged<T> =
  | { readonly kind: "passed"; readonly value: T; readonly checks: AnswerChecks }
  | { readonly kind: "violated"; readonly faults: readonly Fault[]; readonly checks: AnswerChecks }
  | Refusal;
