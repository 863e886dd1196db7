import { visibleText } from "./visible-text.ts";

/**
 * Evidence as a prompt may show it: whatever looks like our own protocol is changed visibly, so that a document
 * can't open or close a fence, call the tool, forge a citation or a footer, or decline in the model's place.
 */
export const neutraliseText = (text: string): string =>
  visibleText(text)
    .replaceAll("<<<", "‹‹‹")
    .replaceAll(">>>", "›››")
    .replace(/tool_call/gi, "tool·call")
    .replace(/insufficient_evidence/gi, "INSUFFICIENT·EVIDENCE")
    .replace(/<(\/?think)/gi, "‹$1")
    .replace(/[[【［]([ ,;–—-]{0,20}\p{Nd}[\p{Nd} ,;–—-]{0,400})[\]】］]/gu, "($1)")
    .replace(/^([ \t>*_`#-]*)(scope)([*_ \t]*)([:：])/gimu, "$1$2$3·$4");
