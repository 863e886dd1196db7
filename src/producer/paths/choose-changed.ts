import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../shared/db/database.ts";
import { selectNewestEvidence } from "../../shared/db/jobs/newest-evidence.ts";
import type { KnownFile, NewestEvidence } from "../../shared/db/jobs/newest-evidence.ts";
import { hashInput } from "../enqueue/hash-input.ts";

const PAGE_FILES = 1_000;

/**
 * The inputs whose file is not what the newest result of the same input was made of. No file is opened: one whose size
 * and times are those that it was indexed with is the one that was indexed. Whatever is uncertain counts as changed.
 * @param inputs of kind summarize or extract, as their jobs are stored
 * @returns them, and how many of their files have a result and are unknown to the index
 */
export async function chooseChanged<Input extends { readonly path: string }>(
  database: Database,
  workroot: string,
  inputs: readonly Input[],
): Promise<{ readonly changed: readonly Input[]; readonly unindexed: number }> {
  const changed: Input[] = [];
  let unindexed = 0;
  for (let from = 0; from < inputs.length; from += PAGE_FILES) {
    const page = inputs.slice(from, from + PAGE_FILES);
    const evidence = await selectNewestEvidence(
      database,
      page.map((input) => ({ inputSha256: hashInput(input), path: input.path })),
    );
    const verdicts = await Promise.all(
      page.map(({ path }, index) => isUnchanged(join(workroot, path), evidence[index])),
    );
    changed.push(...page.filter((_, index) => verdicts[index] !== true));
    unindexed += evidence.filter(({ used, known }) => used !== null && known === null).length;
  }
  return { changed, unindexed };
}

async function isUnchanged(file: string, evidence: NewestEvidence | undefined): Promise<boolean> {
  if (evidence === undefined) return false;
  const { used, known } = evidence;
  return known !== null && used === known.sha256 && known.settled && hasFacts(file, known);
}

/** A file that is gone, or can't be looked at, is not as it was. */
const hasFacts = (file: string, { facts }: KnownFile): Promise<boolean> =>
  stat(file, { bigint: true }).then(
    ({ size, mtimeNs, ctimeNs, ino }) =>
      size === facts.bytes &&
      mtimeNs === facts.mtimeNs &&
      ctimeNs === facts.ctimeNs &&
      ino === facts.inode,
    () => false,
  );
