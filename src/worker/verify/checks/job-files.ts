import { setImmediate } from "node:timers/promises";
import type { Refusal } from "../../../shared/failure.ts";
import { familyKey, newerVersionFinder } from "../../../shared/files/version-family.ts";
import type { FamilyDocument } from "../../../shared/files/version-family.ts";
import { numberEvidence, numberBesideFiles } from "../../evidence/number.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { CheckSources, Passage, Reading } from "../../evidence/types.ts";
import { once, onceEach } from "../../../shared/once.ts";
import { append } from "../../../shared/group-by.ts";

/** The files of a job while one answer is checked. Each file is read once, and each search is made once. */
export type JobFiles = {
  /** From a listing that may be some seconds old. */
  paths(): Promise<readonly string[]>;
  /** From a listing that began after the answer was made: for checks that count files. */
  pathsNow(): ReturnType<CheckSources["listPathsNow"]>;
  read(path: string): Promise<Reading | Refusal>;
  search(query: string, limit: number): Promise<readonly Passage[]>;
  /**
   * The newer versions of a file that exist: first those that the index knows to supersede it, then those by name, newest
   * first.
   */
  newer(path: string): Promise<readonly string[]>;
  /** Lets other work run after `TURN_MS`. Throws the signal's reason once it is aborted. */
  pause(): Promise<void>;
};

/** The longest time that work on texts runs before other work has its turn. */
const TURN_MS = 15;
const MOST_QUERY_CHARS = 400;

export function openJobFiles(sources: CheckSources, signal: AbortSignal): JobFiles {
  const searches = onceEach((limit: number) =>
    onceEach((query: string) => sources.search(query, limit)),
  );
  const families = once(() => readFamilies(files));
  let turnStartedAt = performance.now();
  const files: JobFiles = {
    paths: once(() => sources.listPaths()),
    pathsNow: once(() => sources.listPathsNow()),
    read: onceEach((path) => sources.read(path)),
    search: (query, limit) => searches(limit)(query.slice(0, MOST_QUERY_CHARS)),
    newer: onceEach(async (path) => newerOf(path, await families(), { ...files, ...sources })),
    pause: async () => {
      if (performance.now() - turnStartedAt > TURN_MS) {
        await setImmediate();
        turnStartedAt = performance.now();
      }
      signal.throwIfAborted();
    },
  };
  return files;
}

type Families = ReadonlyMap<string, readonly FamilyDocument[]>;

/** Groups existing files by the part of the name that their versions share. */
async function readFamilies({
  paths,
  pause,
}: Pick<JobFiles, "paths" | "pause">): Promise<Families> {
  const families = new Map<string, FamilyDocument[]>();
  for (const path of await paths()) {
    await pause();
    const key = familyKey(path);
    if (key !== null) append(families, key, { path, supersedes: [] });
  }
  return families;
}

/** Combines index and names: the index may hold files that no longer exist, and lack some that do. */
async function newerOf(
  path: string,
  families: Families,
  { paths, versions }: Pick<JobFiles, "paths"> & Pick<CheckSources, "versions">,
): Promise<readonly string[]> {
  const there = new Set(await paths());
  const named = newerVersionFinder(families.get(familyKey(path) ?? "") ?? [])(path);
  const indexed = (await versions([path])).get(path)?.newer ?? [];
  return [...indexed.filter((one) => there.has(one) && !named.includes(one)), ...named];
}

/** The number of a document that is not evidence of the run. */
const NO_NUMBER = 0;

/** A file as a block, which the rules for claims read. */
export function blockOfReading(reading: Reading): CitableBlock {
  const [block] = numberEvidence({
    kind: "admitted",
    files: [reading],
    passages: [],
    snapshotHash: "",
  });
  if (block === undefined) throw new TypeError("a reading makes no block");
  return { ...block, number: NO_NUMBER };
}

export function blockOfPassage(passage: Passage): CitableBlock {
  const [block] = numberBesideFiles({ passages: [passage] }, NO_NUMBER);
  if (block === undefined) throw new TypeError("a passage makes no block");
  return block;
}
