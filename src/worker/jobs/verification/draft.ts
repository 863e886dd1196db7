import type { ClaimRecord } from "../../../shared/run-result.ts";

/** An answer that the rules let stand, with its claims, those that were left out among them. */
export type Draft<T> = {
  readonly value: T;
  /** As it is given, with its footer. */
  readonly text: string;
  readonly claims: readonly ClaimRecord[];
};

/** A statement that stands, numbered from 1 over the answer. */
export type Statement = { readonly number: number; readonly claim: ClaimRecord };

export const statementsOf = ({ claims }: Pick<Draft<unknown>, "claims">): readonly Statement[] =>
  claims.filter(({ stands }) => stands).map((claim, at) => ({ number: at + 1, claim }));
