import { existsSync, realpathSync } from "node:fs";
import { lstat, mkdir, opendir, stat } from "node:fs/promises";
import { basename, extname, join, relative, resolve } from "node:path";
import { writeAtomicFile } from "../files/atomic-file.ts";
import { Failure } from "../failure.ts";
import { hasCode, NOT_WRITABLE } from "../store/connection/errors.ts";
import { isHiddenName } from "../files/skipped-files.ts";
import { loadConfig } from "./load-config.ts";
import { distrustOfFolder } from "./read-config-chain.ts";
import { FILE_NAME, entryExists, stateOfFolder } from "./select-config-file.ts";
import type { ConfigRequest } from "./select-config-file.ts";

/** `any`: the user has confirmed a folder of any size. */
type Size = "usual" | "any";

/** A folder of documents with a generated configuration, and how many files it has to read. */
export type MadeFolder = {
  readonly folder: string;
  /** The folder of its configuration and its database. */
  readonly state: string;
  readonly files: number;
};

const MOST_FILES = 20_000;
const MOST_BYTES = 5_000_000_000;
/** Entries of any kind: listing more takes longer than a user waits. */
const MOST_ENTRIES = 500_000;
/** Seconds that a question waits for the index of the folder. */
const INDEX_FIRST_S = 10;

/** Plain text formats beside the default ones. */
const TEXTS = [".text", ".rst", ".adoc", ".org", ".tex", ".bib", ".srt", ".xml", ".jsonl"];

/**
 * Creates a configuration in the user's state folder for a folder that has none. The folder is work root and source, and all
 * readable formats are allowed.
 * @throws Failure INPUT_INVALID for a path that is no folder, a folder that contains the home, is too large, has nothing to
 * read, or that others may write; CONFIG_ERROR for a user without a home
 */
export async function makeFolderConfig(
  folder: string,
  request: ConfigRequest,
  size: Size,
): Promise<MadeFolder> {
  const real = await checkFolder(folder, request.env["HOME"]);
  const state = stateOfFolder(real, request.env);
  if (state === undefined)
    throw new Failure(
      "CONFIG_ERROR",
      "There is no place for its index: set HOME, or XDG_STATE_HOME.",
    );
  const exts = await readableExtensions(request, real);
  const files = await countFiles(real, { exts, size });
  await mkdir(state, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw notWritable(state, error);
  });
  await writeConfig(join(state, FILE_NAME), [
    `# Made by Nightdesk for a folder of documents. To keep it there: nightdesk init --in ${JSON.stringify(real)}`,
    `workroot: ${JSON.stringify(real)}`,
    ...configOf({ folder: real, state, exts }),
  ]);
  return { folder: real, state, files };
}

/** Writes the configuration into the folder as nightdesk.yaml, with hints on first changes. @returns the file */
export async function keepFolderConfig(
  { folder, state }: Pick<MadeFolder, "folder" | "state">,
  request: ConfigRequest,
): Promise<string> {
  const file = join(folder, FILE_NAME);
  const exts = await readableExtensions(request, folder);
  await writeConfig(file, [
    "# What Nightdesk reads of this folder. Every other key has its default: nightdesk config show",
    ...configOf({ folder, state, exts }),
    "# A language model of Ollama; nightdesk doctor says whether it answers.",
    '# model: { provider: ollama, name: "llama3.1:8b" }',
  ]);
  return file;
}

type Settings = {
  readonly folder: string;
  readonly state: string;
  readonly exts: readonly string[];
};

/** JSON strings are valid YAML. */
const configOf = ({ folder, state, exts }: Settings): readonly string[] => [
  "security:",
  '  allowed_roots: ["."]',
  `  allowed_exts: [${exts.join(", ")}]`,
  "index:",
  `  sources: [{ name: ${sourceName(folder)}, root: ".", one_device: true }]`,
  "# Seconds that a question waits for what is new in the folder.",
  `ask: { index_first_s: ${INDEX_FIRST_S} }`,
  `database: { directory: ${JSON.stringify(state)} }`,
];

function sourceName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-");
  return /^[a-z][a-z0-9_-]*$/.test(name) ? JSON.stringify(name) : "documents";
}

async function readableExtensions(
  request: ConfigRequest,
  workroot: string,
): Promise<readonly string[]> {
  const { packageRoot } = request;
  const flags = { config: "nightdesk:embedded", workroot };
  const { security } = await loadConfig({ flags, env: {}, cwd: workroot, packageRoot });
  return [...security.allowed_exts, ...TEXTS];
}

async function writeConfig(file: string, lines: readonly string[]): Promise<void> {
  try {
    await writeAtomicFile(file, `${lines.join("\n")}\n`, "keep");
  } catch (error) {
    // Another command has created it in the meantime.
    if (entryExists(file)) return;
    throw notWritable(file, error);
  }
}

/** The Failure for a place without the right to write; any other error unchanged. */
function notWritable(place: string, error: unknown): unknown {
  const code = NOT_WRITABLE.find((one) => hasCode(error, one));
  if (code === undefined) return error;
  return new Failure(
    "INPUT_INVALID",
    `${JSON.stringify(place)} can't be written (${code}). Get write access to it, or, for the state of folders, ` +
      "set XDG_STATE_HOME to a folder that you may write.",
  );
}

const folderFailure = (folder: string, why: string): Failure =>
  new Failure("INPUT_INVALID", `The folder ${JSON.stringify(folder)} ${why}`);

/** @returns its real path */
async function checkFolder(folder: string, home: string | undefined): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw folderFailure(folder, "is not there. Name one that holds documents.");
  const real = realpathSync(folder);
  if (real === "/" || (home !== undefined && contains(real, home)))
    throw folderFailure(
      real,
      `is ${real === "/" ? "the whole machine" : "your home, or holds it"}: name a folder of documents in it.`,
    );
  const distrust = await distrustOfFolder(real);
  if (distrust === undefined) return real;
  throw folderFailure(
    real,
    `${distrust}, so that others could put documents into it. Take that right away, or write a nightdesk.yaml and name it with --config.`,
  );
}

const contains = (folder: string, home: string): boolean =>
  existsSync(home) && !relative(folder, realpathSync(home)).startsWith("..");

type Limits = { readonly exts: readonly string[]; readonly size: Size };

/** Counts the readable files. @throws Failure INPUT_INVALID if there are none, or more than the limits of a folder */
async function countFiles(folder: string, { exts, size }: Limits): Promise<number> {
  const wanted = new Set(exts);
  const { dev } = await stat(folder);
  const seen = { entries: 0, files: 0, bytes: 0 };
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for await (const entry of await opendir(next).catch(() => [])) {
      seen.entries += 1;
      if (isHiddenName(entry.name) || entry.name === "node_modules") continue;
      const path = join(next, entry.name);
      const isWanted = wanted.has(extname(entry.name).toLowerCase());
      if (!entry.isDirectory() && !(entry.isFile() && isWanted)) continue;
      const status = await lstat(path).catch(() => undefined);
      if (status === undefined || status.dev !== dev) continue;
      if (entry.isDirectory()) folders.push(path);
      else {
        seen.files += 1;
        seen.bytes += status.size;
      }
      if (size === "usual") refuseLarge(folder, seen);
    }
  }
  if (seen.files > 0) return seen.files;
  throw folderFailure(
    folder,
    `holds no file that can be read: ${exts.slice(0, 12).join(", ")} and others (docs/formats.md).`,
  );
}

function refuseLarge(
  folder: string,
  { entries, files, bytes }: { entries: number; files: number; bytes: number },
): void {
  const most =
    files > MOST_FILES
      ? `${MOST_FILES.toLocaleString("en")} files`
      : bytes > MOST_BYTES
        ? `${MOST_BYTES / 1_000_000_000} GB`
        : entries > MOST_ENTRIES
          ? `${MOST_ENTRIES.toLocaleString("en")} entries`
          : undefined;
  if (most === undefined) return;
  throw folderFailure(folder, `holds more than ${most}. Name a smaller one, or say --yes.`);
}

/** Whether a folder looks like a workspace of the shipped configuration: it has allowed/ or a database. */
export const isPlainWorkspace = (folder: string): boolean =>
  [`allowed`, `.nightdesk`].some((name) => entryExists(resolve(folder, name)));
