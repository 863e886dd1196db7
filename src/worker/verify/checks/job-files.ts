import { setImmediate } from "node:timers/promises";
import { periodOf } from "../../../shared/date-period.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { familyKeys, newerDocuments } from "../../../shared/version-family.ts";
import type { FamilyDocument, NewerDocument } from "../../../shared/version-family.ts";
import { documentDate } from "../../documents/document-date.ts";
import { parseFrontmatter } from "../../documents/frontmatter.ts";
import { numberEvidence, numberBesideFiles, titleOf } from "../../evidence/number.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { CheckSources, Passage, Reading } from "../../evidence/types.ts";

/** The files of a job while one answer is checked: each is read once, each search made once, and other work has its turn in between. */
export type JobFiles = {
  /** As of a walk that may be some seconds old. */
  paths(): Promise<readonly string[]>;
  /** As of a walk that began after the answer was there: for who counts them. */
  pathsNow(): ReturnType<CheckSources["listPathsNow"]>;
  read(path: string): Promise<Reading | Refusal>;
  search(query: string, limit: number): Promise<readonly Passage[]>;
  /** The file by its name, title and date, as it is now. */
  document(path: string): Promise<FamilyDocument>;
  /** The newer versions of a file, the newest first: by its names those that are there, by title and date those that are indexed. */
  newer(path: string): Promise<readonly NewerDocument[]>;
  /** Throws the signal's reason once it is aborted. */
  pause(): Promise<void>;
};

/** Work on texts goes on for so long before others have their turn. */
const TURN_MS = 15;
const MOST_QUERY_CHARS = 400;

export function openJobFiles(sources: CheckSources, signal: AbortSignal): JobFiles {
  const readings = new Map<string, Promise<Reading | Refusal>>();
  const searches = new Map<string, Promise<readonly Passage[]>>();
  const newer = new Map<string, Promise<readonly NewerDocument[]>>();
  let listed: Promise<readonly string[]> | null = null;
  let listedNow: ReturnType<CheckSources["listPathsNow"]> | null = null;
  let turnStartedAt = performance.now();
  const files: JobFiles = {
    paths: () => (listed ??= sources.listPaths()),
    pathsNow: () => (listedNow ??= sources.listPathsNow()),
    read: (path) => {
      const known = readings.get(path) ?? sources.read(path);
      readings.set(path, known);
      return known;
    },
    search(query, limit) {
      const text = query.slice(0, MOST_QUERY_CHARS);
      const key = `${String(limit)} ${text}`;
      const known = searches.get(key) ?? sources.search(text, limit);
      searches.set(key, known);
      return known;
    },
    document: async (path) => documentOf(path, await files.read(path)),
    newer(path) {
      const known = newer.get(path) ?? newerOf(path, files, sources);
      newer.set(path, known);
      return known;
    },
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

const MOST_TITLE_CHARS = 300;
const MOST_HEAD_CHARS = 4_000;

function documentOf(path: string, reading: Reading | Refusal): FamilyDocument {
  if (reading.kind === "refused") return named(path);
  const { text } = reading;
  const title = parseFrontmatter(text).title ?? titleOf(text.slice(0, MOST_HEAD_CHARS));
  return {
    path,
    title: title?.slice(0, MOST_TITLE_CHARS) ?? null,
    period: periodOf(documentDate(path, text) ?? ""),
  };
}

/** By its name alone. */
const named = (path: string): FamilyDocument => ({ path, title: null, period: null });

/** An index may hold files that are not there any more. */
async function newerOf(
  path: string,
  files: Pick<JobFiles, "paths" | "document">,
  { family }: Pick<CheckSources, "family">,
): Promise<readonly NewerDocument[]> {
  const own = await files.document(path);
  const indexed = new Map((await family(familyKeys(own))).map((one) => [one.path, one]));
  const there = (await files.paths()).map((other) => indexed.get(other) ?? named(other));
  return newerDocuments(own, there);
}

/** A document that is no evidence of the run. */
const NO_NUMBER = 0;

/** A file as the rules for claims read one. */
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
