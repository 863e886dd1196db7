import { namesFrame } from "../../text/units/frames.ts";
import type { Frame } from "../../text/units/frames.ts";
import { claimCues } from "./pair.ts";
import type { Finding, Pair } from "./pair.ts";

const WHY: Readonly<Record<Frame, string>> = {
  denied: "what stands above it denies it",
  asked: "the sentence asks it",
  open: "it is still open there",
  struck: "it is struck out there",
  option: "it is one of several options there",
  example: "it is an example there",
  reported: "others say it there",
};

/** A sentence with a frame (asked, denied, an example …) supports only a claim that names the same frame. */
export function compareFrame(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  const { frame, text } = unit;
  if (frame === null || isDenied(pair, frame)) return null;
  if (claim.language !== null && namesFrame(claim.text, { frame, text }, claim.language))
    return null;
  return { reason: "frame", detail: WHY[frame] };
}

/** Whether the claim names the frame by a denial: "is not covered" if denied; "is not painted" or "is to be painted" if open. */
function isDenied(pair: Pair, frame: Frame): boolean {
  const denials = claimCues(pair, "not").length;
  if (frame === "denied") return denials > 0;
  if (frame !== "open") return false;
  const own = pair.unit.cues().filter(({ name }) => name === "not").length;
  return denials > own || claimCues(pair, "plan").length > 0;
}
