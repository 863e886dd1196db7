import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import { Failure } from "../../shared/failure.ts";
import { retrieve, snapshotHash } from "../evidence/retrieve.ts";
import { asFailure } from "./as-failure.ts";
import type { Present, Prospect } from "./prospect.ts";
import type { RepeatableInput } from "./repeatable-input.ts";

/** How the snapshot that a search gives now differs from the run's: passages that are gone, new, or in other order. */
export async function compareRetrieval(
  { evidence }: RunDetail,
  input: RepeatableInput,
  deps: Present["deps"],
  signal: AbortSignal,
): Promise<readonly Prospect[]> {
  if (input.kind !== "ask") return [];
  const what = "retrieval";
  const found = await retrieve(input, deps, signal).catch(asFailure);
  if (found instanceof Failure) {
    return [{ what, verdict: "unknown", words: `${found.code}: ${found.message}` }];
  }
  const then = evidence.flatMap(({ chunk_key: chunkKey, ...row }) =>
    chunkKey === null
      ? []
      : [{ ...row, chunkKey, lineStart: row.line_start, lineEnd: row.line_end }],
  );
  const hash = snapshotHash(then);
  if (hash === found.hash) {
    return [{ what, verdict: "same", words: `${then.length} passages, snapshot ${hash}` }];
  }
  const gone = missingFrom(then, found.passages);
  const added = missingFrom(found.passages, then);
  const words = [
    `snapshot ${hash} then, ${found.hash} now`,
    ...(gone.length === 0 ? [] : [`gone: ${gone.join(", ")}`]),
    ...(added.length === 0 ? [] : [`new: ${added.join(", ")}`]),
    ...(gone.length + added.length === 0 ? ["the same passages in another order"] : []),
  ].join("; ");
  return [{ what, verdict: "differs", words }];
}

type Found = {
  readonly chunkKey: string;
  readonly sha256: string;
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
};

/** The places of those passages that the others are without, as `path:lines`. */
const missingFrom = (passages: readonly Found[], others: readonly Found[]): readonly string[] =>
  passages
    .filter(
      ({ chunkKey, sha256 }) =>
        !others.some((other) => other.chunkKey === chunkKey && other.sha256 === sha256),
    )
    .map(({ path, lineStart, lineEnd }) => `${path}:${lineStart}-${lineEnd}`);
