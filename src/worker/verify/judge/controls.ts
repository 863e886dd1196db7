/**
 * The running exam of a judge: its calls contain control statements that are known to be wrong or right. A cumulative sum (E.
 * S. Page, "Continuous inspection schemes", 1954) shows when the judge has become worse than the one that passed. Each control
 * adds the log-likelihood ratio of its verdict, for a judge that went bad against one that did not; below zero the sum restarts
 * at zero. Wrong and right controls have separate sums.
 */
export type ControlKind = "wrong" | "right";

/** Error rates of a judge that is unchanged, and of one that went bad. A judge that passed may miss a few right statements. */
const ERRORS: Readonly<Record<ControlKind, { readonly usual: number; readonly bad: number }>> = {
  wrong: { usual: 0.05, bad: 0.3 },
  right: { usual: 0.15, bad: 0.6 },
};

const FALSE_ALARMS = 0.001;

/**
 * The sum at which a judge no longer counts: ln 1,000 = 6.9. By G. Lorden (1971) an unchanged judge reaches it after 1/alpha
 * controls on average, or later. A judge that confirms each wrong control reaches it after 4 (4 ln 6 = 7.2), one that confirms
 * no right control after 5 (5 ln 4 = 6.93).
 */
export const CONTROL_LIMIT = -Math.log(FALSE_ALARMS);

/** The amount that one control adds to the sum of its kind. */
export function controlStep(isConfirmed: boolean, kind: ControlKind): number {
  const { usual, bad } = ERRORS[kind];
  const isError = isConfirmed === (kind === "wrong");
  return Math.log(isError ? bad / usual : (1 - bad) / (1 - usual));
}
