import type { AdmittedEvidence } from "../gate-evidence.ts";
import type { CitableBlock } from "../number-evidence.ts";
import type { Reading } from "../../evidence/types.ts";
import { partsFooter, scopeFooter } from "../scope-footer.ts";

/** The footer of what a model makes of a part: it rests on so much of the file, and on no more. */
export function partFooter(
  file: Reading,
  pieces: readonly Pick<CitableBlock, "startChar" | "endChar">[],
): string {
  const charsReturned = pieces.reduce(
    (total, { startChar, endChar }) => total + endChar - startChar,
    0,
  );
  const part = { ...file, charsReturned, truncated: charsReturned < file.charsFull };
  return scopeFooter({ kind: "admitted", file: part, passages: [], snapshotHash: "" });
}

/** The footer of what rests on the whole reading. The parts that it was worked through in, if any, are counted in it. */
export function wholeFooter({
  file,
  passages,
  snapshotHash,
  parts,
}: Omit<AdmittedEvidence, "kind"> & { readonly parts: number }): string {
  const footerOf = (evidence: Partial<AdmittedEvidence>): string =>
    scopeFooter({ kind: "admitted", file: null, passages: [], snapshotHash, ...evidence });
  if (file === null || parts === 1) return footerOf({ file, passages });
  const ofFile = partsFooter(footerOf({ file }), parts);
  if (passages.length === 0) return ofFile;
  return `${ofFile}; ${footerOf({ passages }).slice("Scope: ".length)}`;
}
