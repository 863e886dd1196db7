import type { ClaimRecord } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { Auditor, Reading } from "../../evidence/types.ts";
import type { Fault } from "../../evidence/validated.ts";

/** An answer that passed the rules, the model that wrote it, and the ways to make another draft of it. */
export type Draft<T> = Auditor & {
  readonly kind: "draft";
  readonly value: T;
  /** The text of the answer with its footer. */
  readonly text: string;
  /** The claims of the answer, including those that were removed from it. */
  readonly claims: readonly ClaimRecord[];
  /** "values": the statements are values of fields, for which rules about sentences do not apply. Default: sentences. */
  readonly states?: "values";
  /** The task of the job in one line. */
  readonly task: string;
  readonly evidence: readonly CitableBlock[];
  /**
   * Lets the model that wrote the answer revise it; null if the new answer does not pass, or is the same.
   * @param found reads the files that the checks rest on and the answer does not
   */
  revise(
    faults: readonly Fault[],
    found: () => Promise<readonly Reading[]>,
  ): Promise<Draft<T> | null>;
  /** The answer with a sentence of Nightdesk about the coverage. */
  withNote(note: string): T;
  /** The correction of a person in place of the answer; null if it does not have the required form. */
  withCorrection(correction: string, by: string): T | null;
};

/** A statement of the answer, numbered from 1. */
export type Statement = { readonly number: number; readonly claim: ClaimRecord };

/** Whether the quote of a statement leaves open whether it is true. */
export const isDoubted = ({ claim }: Statement): boolean => claim.grade !== "supported";

export const statementsOf = ({ claims }: Pick<Draft<unknown>, "claims">): readonly Statement[] =>
  claims.filter(({ stands }) => stands).map((claim, at) => ({ number: at + 1, claim }));
