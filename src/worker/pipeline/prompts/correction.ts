/** What the retry shows: the rejected draft, marked off, and what was wrong with it. */
export const correctionText = (
  boundary: string,
  draft: string,
  violations: readonly string[],
): string => `
Your previous reply was rejected:
<<<DRAFT ${boundary}>>>
${draft}
<<<END ${boundary}>>>
What was wrong with it:
${violations.map((violation) => `- ${violation}`).join("\n")}
Write the reply again, without these faults.
`;
