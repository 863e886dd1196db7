import { createHmac } from "node:crypto";
import type { EvidenceBlock } from "../model/model.ts";
import { neutraliseText } from "./text/neutralise-text.ts";

/**
 * The mark around evidence that no document can guess and a replay can make again: HMAC-SHA256 of the job id and
 * the evidence hashes under the key of the installation, 32 hex.
 */
export const fenceBoundary = (jobId: string, hashes: readonly string[], key: Buffer): string =>
  createHmac("sha256", key)
    .update([jobId, ...hashes].join("\n"))
    .digest("hex")
    .slice(0, 32);

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

/** A path or heading as a prompt may show it: on one line, in quotes, closing nothing. */
export const quoteName = (text: string): string => JSON.stringify(neutraliseText(text));
