import { createHmac } from "node:crypto";
import type { Offload, PureWork } from "../offload/offload.ts";
import { charsIn } from "../models/model.ts";
import type { EvidenceBlock } from "../models/model.ts";
import { neutraliseText } from "../text/neutralise-text.ts";

/**
 * The mark around evidence, 32 hex: HMAC-SHA256 of the prompt's name and version and of the evidence hashes, under the key of
 * the installation. No document can guess it, and equal evidence gives equal prompts in every job.
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

/**
 * Takes the pieces, in order, that fit into the room together, and skips a piece that is too long for the rest.
 * @param room in UTF-16 units
 */
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

/** Writes numbered pieces of evidence between marks, in order. Text that looks like our protocol is neutralised. */
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

/** As `fenceEvidence`, in a thread where the evidence is long. */
export const fenceLong = (
  blocks: readonly EvidenceBlock[],
  boundary: string,
  { offload, signal }: { readonly offload: Offload; readonly signal: AbortSignal },
): Promise<string> => offload(FENCE_ALL, { blocks, boundary }, { chars: charsIn(blocks), signal });

type Fenced = { readonly blocks: readonly EvidenceBlock[]; readonly boundary: string };

export const fenceAll = ({ blocks, boundary }: Fenced): string => fenceEvidence(blocks, boundary);

const FENCE_ALL: PureWork<Fenced, string> = { home: import.meta.url, run: fenceAll };

/** Quotes a path or heading for a prompt: on one line, and without anything that could close a mark. */
export const quoteName = (text: string): string => JSON.stringify(neutraliseText(text));
