import { stat } from "node:fs/promises";
import { join } from "node:path";
import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectNewestEvidence } from "../../shared/store/jobs/evidence.ts";
import type { KnownFile, NewestEvidence } from "../../shared/store/jobs/evidence.ts";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import {
  countSkipped,
  formatSkipped,
  skippedFilesOf,
  allowedExtensionsText,
  totalSkipped,
} from "../../shared/files/skipped-files.ts";
import type { SkippedFiles } from "../../shared/files/skipped-files.ts";
import { hashJson } from "../../shared/schema/json-value.ts";
import { withAttachmentsOf } from "./attachments.ts";
import { listedPaths } from "./file-list.ts";
import { saveText } from "./save-text.ts";
import {
  findInRoots,
  findNamedFile,
  findNamedFolder,
  listFiles,
  refuseNowhere,
} from "./find-in-roots.ts";
import type { FoundPlace, ListedFile, Lookup } from "./find-in-roots.ts";
import { isGlob, parseGlob } from "../../shared/files/parse-glob.ts";

export type ExpandedPaths = {
  readonly kind: "paths";
  /** In the order of the arguments, files of a glob or a folder sorted, without duplicates. */
  readonly paths: readonly string[];
  /** Whether the arguments have a glob or a folder, or a list was given. */
  readonly isSelection: boolean;
  /** Files of globs and folders that were left out for their extension. */
  readonly skipped: SkippedFiles;
};

/**
 * Turns arguments into paths. An argument names a file or a folder from the current folder, else from the work root,
 * else from the one allowed root that has it; or it is a glob over the files below the allowed roots, by their path from
 * the work root or from their allowed root. A folder means all files below it. Any other argument stays unchanged if a
 * worker on another machine might read it; that worker's sandbox reports the problem.
 * @param listed paths from the current folder, otherwise unchanged; no globs
 * @returns AMBIGUOUS_PATH for an argument that names several places; FILE_NOT_FOUND for one that no worker can read
 * @throws Failure INPUT_INVALID for a glob or a folder without a readable file
 */
export async function expandPaths(
  args: readonly string[],
  config: Config,
  cwd: string,
  listed?: readonly string[],
): Promise<ExpandedPaths | Refusal> {
  let listing: Promise<readonly ListedFile[]> | undefined;
  const lookup: Lookup = { config, cwd, list: () => (listing ??= listFiles(config)) };
  const paths = new Set<string>();
  const left = new Set<string>();
  let isSelection = listed !== undefined;
  const places = [
    ...args.map((arg) => () => placeOf(arg, lookup)),
    ...(listed ?? []).map((path) => () => literalPlaceOf(path, lookup)),
  ];
  for (const find of places) {
    const place = await find();
    if (place.kind === "refused") return place;
    if (place.kind === "file") {
      paths.add(place.path);
      continue;
    }
    isSelection = true;
    const { taken, others } = takeFiles(place, await lookup.list(), config);
    for (const path of taken) paths.add(path);
    for (const path of others) left.add(path);
  }
  return {
    kind: "paths",
    paths: [...paths],
    isSelection,
    skipped: countAll(left),
  };
}

type Glob = { readonly kind: "glob"; readonly glob: string };

/** A file or a folder by its path from the current folder; otherwise the path itself, which the worker looks up from the work root. */
async function literalPlaceOf(path: string, { cwd, config }: Lookup): Promise<FoundPlace> {
  const { workroot } = config.roots;
  const file = await findNamedFile(path, cwd, workroot);
  if (file !== undefined) return { kind: "file", path: file };
  const folder = await findNamedFolder(path, cwd, workroot);
  return folder === undefined ? { kind: "file", path } : { kind: "folder", path: folder };
}

async function placeOf(arg: string, lookup: Lookup): Promise<FoundPlace | Glob | Refusal> {
  const { workroot } = lookup.config.roots;
  // A file with exactly this name has priority over the meaning of its brackets as a glob.
  const file = await findNamedFile(arg, lookup.cwd, workroot);
  if (file !== undefined) return { kind: "file", path: file };
  const folder = await findNamedFolder(arg, lookup.cwd, workroot);
  if (folder !== undefined) return { kind: "folder", path: folder };
  if (isGlob(arg)) return { kind: "glob", glob: arg };
  const found = (await findInRoots(arg, lookup)) ?? (await findAttachmentInRoots(arg, lookup));
  return found ?? (await refuseNowhere(arg, lookup)) ?? { kind: "file", path: arg };
}

/** An attachment whose mail lies below an allowed root. */
async function findAttachmentInRoots(
  arg: string,
  lookup: Lookup,
): Promise<FoundPlace | Refusal | undefined> {
  for (const { file, names } of attachmentPlaces(arg)) {
    const mail = await findInRoots(file, lookup);
    if (mail?.kind === "refused") return mail;
    if (mail?.kind === "file") return { kind: "file", path: [mail.path, ...names].join("/") };
  }
  return undefined;
}

/** Splits files by whether their extension is allowed. */
function takeFiles(
  place: FoundPlace | Glob,
  files: readonly ListedFile[],
  config: Config,
): { readonly taken: readonly string[]; readonly others: readonly string[] } {
  const matches = files.filter(place.kind === "glob" ? globOf(place.glob) : isBelow(place.path));
  const taken = matches.filter(({ hasAllowedExtension }) => hasAllowedExtension).map(pathOf);
  const others = matches.filter(({ hasAllowedExtension }) => !hasAllowedExtension).map(pathOf);
  if (taken.length === 0) throw nothingIn(place, config, countAll(others));
  return { taken, others };
}

const pathOf = ({ path }: ListedFile): string => path;

function countAll(paths: Iterable<string>): SkippedFiles {
  const counts = new Map<string, number>();
  for (const path of paths) countSkipped(counts, path);
  return skippedFilesOf(counts);
}

function globOf(glob: string): (file: ListedFile) => boolean {
  const isMatch = parseGlob(glob);
  if (typeof isMatch !== "function") {
    throw new Failure(
      "INPUT_INVALID",
      `The glob ${JSON.stringify(glob.slice(0, 200))} ${isMatch.problem}.`,
    );
  }
  return ({ path, belowRoot }) => isMatch(path) || isMatch(belowRoot);
}

const isBelow =
  (folder: string) =>
  ({ path }: ListedFile): boolean =>
    folder === "" || path.startsWith(`${folder}/`);

function nothingIn(place: FoundPlace | Glob, config: Config, skipped: SkippedFiles): Failure {
  const { security, roots } = config;
  const below = `below ${security.allowed_roots.join(", ")} (from the work root ${roots.workroot})`;
  const what =
    place.kind === "glob"
      ? `${JSON.stringify(place.glob)} matches no file`
      : `The folder ${JSON.stringify(place.path === "" ? "." : place.path)} holds no file`;
  if (Object.keys(skipped).length > 0) {
    return new Failure(
      "INPUT_INVALID",
      `${what} that may be read. ${formatSkipped(skipped)}. ${allowedExtensionsText(config)}.`,
    );
  }
  const hint =
    place.kind === "glob"
      ? "Quote a glob, so that Nightdesk and not the shell expands it."
      : `${allowedExtensionsText(config)}.`;
  return new Failure("INPUT_INVALID", `${what} ${below}. ${hint}`);
}

const PAGE_FILES = 1_000;

/**
 * The inputs whose file differs from the one of their newest result. It opens no file: a file with the indexed size and
 * times counts as the indexed one. Uncertain files count as changed.
 * @param inputs of kind summarize or extract, as their jobs are stored
 * @returns the changed inputs, and the number of files that have a result and are unknown to the index
 */
export async function selectChanged<Input extends { readonly path: string }>(
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
      page.map((input) => ({ inputSha256: hashJson(input), path: input.path })),
    );
    const verdicts = await Promise.all(evidence.map((newest) => isUnchanged(workroot, newest)));
    changed.push(...page.filter((_, index) => verdicts[index] !== true));
    unindexed += evidence.filter(({ used, known }) => used !== null && known === null).length;
  }
  return { changed, unindexed };
}

const isUnchanged = async (workroot: string, { used, known }: NewestEvidence): Promise<boolean> =>
  known !== null && used === known.sha256 && known.settled && hasFacts(workroot, known);

/** Whether a file has the indexed size and times; false for a missing file. For an attachment the mail is checked. */
export const hasFacts = (workroot: string, { file, facts }: KnownFile): Promise<boolean> =>
  stat(join(workroot, file), { bigint: true }).then(
    ({ size, mtimeNs, ctimeNs, ino }) =>
      size === facts.bytes &&
      mtimeNs === facts.mtimeNs &&
      ctimeNs === facts.ctimeNs &&
      ino === facts.inode,
    () => false,
  );

/**
 * The files that a command's arguments and list name, or the document that saves a text from stdin; with --attachments
 * also the attachments of mails. It also reports how many files are left out for their extension.
 */
export async function selectPaths(context: CommandContext): Promise<ExpandedPaths | Refusal> {
  const saved = await saveText(context);
  if (saved?.kind === "refused") return saved;
  if (saved !== undefined) {
    return { kind: "paths", paths: [saved.path], isSelection: false, skipped: {} };
  }
  const { config, invocation, terminal } = context;
  const { args, cwd } = invocation;
  const listed = await listedPaths(invocation);
  if (args.length === 0 && listed === undefined) {
    throw new Failure(
      "USAGE_ERROR",
      "Name files, folders or globs, or give a list of paths with --files-from.",
    );
  }
  const selected = await expandPaths(args, config, cwd, listed);
  if (selected.kind === "refused") return selected;
  if (totalSkipped(selected.skipped) > 0) {
    terminal.say(`${formatSkipped(selected.skipped)} (security.allowed_exts).`);
  }
  return { ...selected, paths: await withAttachmentsOf(context, selected.paths) };
}
