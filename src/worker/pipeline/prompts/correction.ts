/** What a second try is told of the first: for the prompt its words, for the record the codes. */
export type Correction = { readonly text: string; readonly violations: readonly string[] };

export const NO_CORRECTION: Correction = { text: "", violations: [] };

/** Shows the rejected draft, marked off, and what was wrong with it. */
export const correctionOf = (
  boundary: string,
  draft: string,
  violations: readonly { readonly code: string; readonly message: string }[],
): Correction => ({
  violations: violations.map(({ code }) => code),
  text: `
Your previous reply was rejected:
<<<DRAFT ${boundary}>>>
${draft}
<<<END ${boundary}>>>
What was wrong with it:
${violations.map(({ message }) => `- ${message}`).join("\n")}
Write the reply again, without these faults.
`,
});
