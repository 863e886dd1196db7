import { visibleText } from "../text/visible-text.ts";
import type { DigestChild, LeftOut } from "./digest-child.ts";

/** Stands above what a digest could not tell of. These lines are ours: no model has a say in them. */
export const LEFT_OUT_HEADING = "Not in this digest:";
/** The rest is counted; all of it is in the digest's `summary`. */
const MOST_NAMED = 200;

/** The children without an answer, and what the digests among them left out, in the order of the children. */
export const leftOutOf = (children: readonly DigestChild[]): LeftOut[] =>
  children.flatMap(({ jobId, path, kind, state, errorCode, words, leftOut }) =>
    words === null
      ? [{ path, kind, state, error_code: errorCode, job_id: jobId }, ...leftOut]
      : leftOut,
  );

/** The lines that name them; none where nothing was left out. */
export function nameLeftOut(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return [];
  const more = leftOut.length - MOST_NAMED;
  return [
    LEFT_OUT_HEADING,
    ...leftOut.slice(0, MOST_NAMED).map(nameOne),
    ...(more > 0 ? [`- … and ${String(more)} more`] : []),
  ];
}

const nameOne = ({ path, kind, state, error_code: code }: LeftOut): string => {
  const what = kind === "digest" ? " (digest)" : "";
  return `- ${visibleText(path).replaceAll("\n", " ")}${what}: ${state}${code === null ? "" : `, ${code}`}`;
};
