import { withoutCode } from "../../src/worker/text/clean-text.ts";
import { findCitations } from "../../src/worker/verify/citations.ts";
import { splitCitedText } from "../../src/worker/verify/claims/split.ts";
import type { SplitClaim } from "../../src/worker/verify/claims/split.ts";

/** The claims of an answer that cites by number. @param pieces how many there are to cite */
export const splitClaims = (text: string, pieces: number): SplitClaim[] =>
  splitCitedText(text, findCitations(withoutCode(text), pieces));
