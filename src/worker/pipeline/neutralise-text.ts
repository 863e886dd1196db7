/**
 * Evidence as a prompt may show it: whatever looks like our own protocol is changed visibly, so that a document
 * can't open or close a fence, call the tool, forge a citation or a footer, or decline in the model's place.
 */
export const neutraliseText = (text: string): string =>
  text
    .replaceAll("<<<", "‹‹‹")
    .replaceAll(">>>", "›››")
    .replace(/tool_call/gi, "tool·call")
    .replace(/insufficient_evidence/gi, "INSUFFICIENT·EVIDENCE")
    .replace(/<(\/?think)/gi, "‹$1")
    .replace(/\[(\d{1,4})\]/g, "($1)")
    .replace(/^([ \t]*)(scope):/gim, "$1$2·:");
