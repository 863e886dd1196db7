import { READ_TOOL } from "../../shared/config/tool-presets.ts";
import { plainForm } from "./plain-form.ts";

/** Patterns for a text with folded look-alikes: the label "Scope", the mark behind it, and the rest of a footer. */
export const FOOTER_LABEL =
  "(?<![\\p{L}\\p{N}])scope(?:\\s{1,4}of\\s{1,4}(?:the\\s{1,4})?(?:evidence|answer|reply))?";
export const FOOTER_MARK = "[*_`\\s\"'“”()\\[\\]>|]{0,8}[:=→⇒–—-]";
const NUMBER = "(?:\\p{N}{1,9}|one|two|three|four|five|six|seven|eight|nine|ten)";
const HASH = "(?:sha-?256|snapshot)\\s{0,3}[=:]\\s{0,3}[0-9a-f]{6}";
export const FOOTER_REST =
  "[*_`\\s\"'“”()\\[\\]<>|:=–—-]{0,8}(?:the\\s{1,4}|all\\s{1,4})?" +
  `(?:(?:full|partial|complete|entire)\\s{1,4}evidence|${NUMBER}\\s{1,4}(?:passages?|answers?)\\s{1,4}(?:from|of)|[^\\n]{0,200}${HASH})`;

/** The tool that a footer names, with any separator between its words. */
const EVIDENCE_TOOL = READ_TOOL.replaceAll("_", "[\\s-]?");

/** Phrases that only a footer has, also without the label. */
const UNLABELLED =
  `evidence\\s{1,4}from\\s{1,4}(?:${EVIDENCE_TOOL}|web\\s{1,4}page\\s{1,4}https?:)|` +
  `${NUMBER}\\s{1,4}(?:files?|jobs?|web\\s{1,4}pages?)\\s{0,4}[,;]?\\s{0,4}snapshot\\s{0,3}[=:]|snapshot\\s{0,3}=\\s{0,3}[0-9a-f]{16}|` +
  `output\\s{1,4}of\\s{1,4}[^\\n]{1,60}sha-?256\\s{0,3}=\\s{0,3}[0-9a-f]{16}`;

const FOOTER = new RegExp(`${FOOTER_LABEL}${FOOTER_MARK}${FOOTER_REST}|${UNLABELLED}`, "iu");

/**
 * Whether a text holds a footer like ours, anywhere and in any look-alike letters, or a phrase that only our footer has.
 * "Scope: the whole project" is none. Linear.
 */
export const holdsFooter = (text: string): boolean => FOOTER.test(plainForm(text).text);
