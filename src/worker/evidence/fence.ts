import { createHmac } from "node:crypto";
import type { Offload, PureWork } from "../offload/offload.ts";
import { charsIn } from "../models/model.ts";
import type { EvidenceBlock } from "../models/model.ts";
import { neutraliseText } from "../text/neutralise-text.ts";

/**
 * The mark around evidence: HMAC-SHA256 of the prompt's name and version and of the evidence hashes, under the key of
 * the installation, 32 hex. No document can guess it, and equal evidence gives equal prompts, whichever job asks.
 *
 * @param template `version` of the prompt that shows the evidence
 */
export const fenceBoundary = (template: string, hashes: readonly string[], key: Buffer): string =>
  createHmac("sha256", key)
    .update([template, ...hashes].join("\n"))
    .digest("hex")
    .slice(0, 32);

/** UTF-16 units that a piece takes beside its text: marks, path and number. */
export const FENCE_CHARS = 200;

/** The first pieces, in order, that fit a room together, in UTF-16 units: a longer one is passed over. */
export function fitPieces<Piece extends { readonly text: string }>(
  pieces: readonly Piece[],
  room: number,
): readonly Piece[] {
  let left = room;
  return pieces.filter(({ text }) => {
    const fits = text.length + FENCE_CHARS <= left;
    if (fits) left -= text.length + FENCE_CHARS;
    return fits;
  });
}

/** Numbered pieces of evidence between marks, in order, without anything that looks like our protocol. */
export const fenceEvidence = (blocks: readonly EvidenceBlock[], boundary: string): string =>
  blocks
    .map(({ number, path, headingPath, text }) => {
      const heading = headingPath === null ? "" : ` heading=${quoteName(headingPath)}`;
      return [
        `<<<EVIDENCE ${boundary} [${number}] path=${quoteName(path)}${heading}>>>`,
        neutraliseText(text),
        `<<<END ${boundary}>>>`,
      ].join("\n");
    })
    .join("\n\n");

/** The same for evidence of any length. */
export const fenceLong = (
  blocks: readonly EvidenceBlock[],
  boundary: string,
  { offload, signal }: { readonly offload: Offload; readonly signal: AbortSignal },
): Promise<string> => offload(FENCE_ALL, { blocks, boundary }, { chars: charsIn(blocks), signal });

type Fenced = { readonly blocks: readonly EvidenceBlock[]; readonly boundary: string };

export const fenceAll = ({ blocks, boundary }: Fenced): string => fenceEvidence(blocks, boundary);

const FENCE_ALL: PureWork<Fenced, string> = { home: import.meta.url, run: fenceAll };

/** A path or heading as a prompt may show it: on one line, in quotes, closing nothing. */
export const quoteName = (text: string): string => JSON.stringify(neutraliseText(text));
