import type { ClaimRecord } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { Auditor, Reading } from "../../evidence/types.ts";
import type { Fault } from "../../evidence/validated.ts";

/** An answer that the rules let stand, by the model that wrote it, and how another draft is made of it. */
export type Draft<T> = Auditor & {
  readonly kind: "draft";
  readonly value: T;
  /** As it is given, with its footer. */
  readonly text: string;
  /** Those that were left out among them. */
  readonly claims: readonly ClaimRecord[];
  /** Values of fields, of which rules for sentences can't tell whether words carry them; sentences unless told. */
  readonly states?: "values";
  /** What the job was asked for, in a line. */
  readonly task: string;
  readonly evidence: readonly CitableBlock[];
  /**
   * The answer put right by the model that wrote it; null where that gave nothing that may stand, or the same.
   * @param found reads the files that the checks rest on and the answer does not
   */
  revise(
    faults: readonly Fault[],
    found: () => Promise<readonly Reading[]>,
  ): Promise<Draft<T> | null>;
  /** The answer with a sentence of ours about what was read. */
  withNote(note: string): T;
  /** What a person says instead of the answer; null where that is not of the form that it has to have. */
  withCorrection(correction: string, by: string): T | null;
};

/** A statement that stands, numbered from 1 over the answer. */
export type Statement = { readonly number: number; readonly claim: ClaimRecord };

/** Whether the words that carry it leave open whether it is so. */
export const isDoubted = ({ claim }: Statement): boolean => claim.grade !== "supported";

export const statementsOf = ({ claims }: Pick<Draft<unknown>, "claims">): readonly Statement[] =>
  claims.filter(({ stands }) => stands).map((claim, at) => ({ number: at + 1, claim }));
