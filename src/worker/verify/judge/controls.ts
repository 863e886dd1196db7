/**
 * The running exam of a judge: in its calls stand control statements that are known to be wrong or right, and a sum of the
 * evidence against it (E. S. Page, "Continuous inspection schemes", 1954) says when it is no longer the judge that passed.
 * Each control adds the logarithm of how much more probable its verdict is of a judge that went bad; below zero the sum
 * begins anew. Wrong controls have a sum of their own, and right ones another.
 */
export type ControlKind = "wrong" | "right";

/** How often a judge errs that is as it was, and one that went bad. One that passed may miss a few of the right ones. */
const ERRORS: Readonly<Record<ControlKind, { readonly usual: number; readonly bad: number }>> = {
  wrong: { usual: 0.05, bad: 0.3 },
  right: { usual: 0.15, bad: 0.6 },
};

const FALSE_ALARMS = 0.001;

/**
 * The sum at which a judge loses its word: ln 1,000 = 6.9. By G. Lorden (1971) one that is as it was comes to it after
 * 1/alpha controls on average, or later. A judge that confirms each wrong control is there after 4 (4 ln 6 = 7.2), one that
 * confirms no right one after 5 (5 ln 4 = 6.93).
 */
export const CONTROL_LIMIT = -Math.log(FALSE_ALARMS);

/** What one more control adds to the sum of its kind, which begins anew below zero. */
export function controlStep(isConfirmed: boolean, kind: ControlKind): number {
  const { usual, bad } = ERRORS[kind];
  const isError = isConfirmed === (kind === "wrong");
  return Math.log(isError ? bad / usual : (1 - bad) / (1 - usual));
}
