import type { Stats } from "node:fs";
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isShipped, resolveConfigName, showFile } from "./select-config-file.ts";
import type { SelectedFile, ConfigRequest } from "./select-config-file.ts";
import { overlay } from "./config-tree.ts";
import type { ConfigTree, Mapping, SourceLocation } from "./config-tree.ts";
import { configFailure, quote } from "./problem.ts";
import { readSmallFile } from "./read-small-file.ts";
import type { Inspection } from "./read-small-file.ts";
import { ignoreMissingFile } from "../store/connection/errors.ts";
import { restoreTree } from "./parsed-tree.ts";

const MAX_BYTES = 64 * 1024;
const MAX_FILES = 8;
const IMPLIED_BASE = "nightdesk:embedded";

type Step = { readonly file: string; readonly place: SourceLocation };

/**
 * The file and what it extends, base first, overlaid. `extends:` takes a path relative to its file, `nightdesk:default` or
 * `nightdesk:embedded`. By default a file extends `nightdesk:embedded`; with `extends: null` it extends nothing. A file that was
 * found and not named, and what it extends, must be safe from other users, because it determines which programs this user runs.
 * @throws Failure CONFIG_ERROR for a file that can't be read, parsed or trusted, a cycle, or more than 8 files
 */
export async function readConfigChain(
  { file, how, namedBy }: SelectedFile,
  request: ConfigRequest,
): Promise<Mapping> {
  const layers: Mapping[] = [];
  const chain: string[] = [];
  let next: Step | null = { file, place: { origin: namedBy ?? showFile(file, request) } };
  while (next !== null) {
    checkChain([...chain, next.file], next.place, request);
    chain.push(next.file);
    const isFound = how !== "named" && !isShipped(next.file, request);
    const layer = await readLayer(next, request, isFound ? file : undefined);
    layers.unshift(layer.own);
    next = layer.base;
  }
  return layers.reduce(overlay);
}

function checkChain(chain: readonly string[], place: SourceLocation, request: ConfigRequest): void {
  const [last] = chain.slice(-1);
  const path = chain.map((file) => showFile(file, request)).join(" → ");
  if (last !== undefined && chain.indexOf(last) < chain.length - 1) {
    throw configFailure([{ place, text: `extends itself: ${path}; take one extends away` }]);
  }
  if (chain.length > MAX_FILES) {
    throw configFailure([
      { place, text: `extends more than ${MAX_FILES - 1} files: ${path}; take some together` },
    ]);
  }
}

/** @param found the discovered file that led here, if the file must be checked for trust */
async function readLayer(
  { file, place }: Step,
  request: ConfigRequest,
  found: string | undefined,
): Promise<{ own: Mapping; base: Step | null }> {
  const shown = showFile(file, request);
  let distrust: string | undefined;
  const inspect: Inspection = async (handle) => (distrust = await distrustOf(handle, file));
  const content = await readSmallFile(file, MAX_BYTES, found === undefined ? undefined : inspect);
  if (content.kind !== "text") {
    const reason = content.kind === "missing" ? "does not exist" : content.reason;
    const expected =
      found === undefined || distrust === undefined
        ? `expected a YAML file of at most ${MAX_BYTES} bytes, nightdesk:default or nightdesk:embedded`
        : "it was found, and not named, so expected one that nobody but you and root can change; if you trust it, give " +
          `--config ${quote(found)}`;
    throw configFailure([
      { place, text: `the configuration file ${quote(shown)} ${reason}; ${expected}` },
    ]);
  }
  const parsed = isShipped(file, request)
    ? await readParsed(basename(file), content.text, shown)
    : undefined;
  const tree = asMapping(parsed ?? (await parseFile(content.text, shown)));
  const { extends: base, own } = splitExtends(tree);
  const name = baseName(base);
  if (name === null) return { own, base: null };
  const basePlace = base?.place ?? { origin: shown };
  return { own, base: { file: resolveConfigName(name, dirname(file), request), place: basePlace } };
}

/** Loads the parser only for files that the build has not parsed. */
const parseFile = async (text: string, origin: string): Promise<ConfigTree> =>
  (await import("./parse-yaml.ts")).parseYaml(text, origin);

/** The parsed tree of a shipped file from the build; undefined in a checkout, or if the file was changed since. */
async function readParsed(
  name: string,
  text: string,
  origin: string,
): Promise<ConfigTree | undefined> {
  const file = join(import.meta.dirname, `${name}.json`);
  const json = await readFile(file, "utf8").catch(ignoreMissingFile);
  return json === undefined ? undefined : restoreTree(json, text, origin);
}

/** A file with nothing but comments sets nothing. */
function asMapping(tree: ConfigTree): Mapping {
  if (tree.kind === "mapping") return tree;
  if (tree.kind === "scalar" && tree.value === null) {
    return { kind: "mapping", entries: new Map(), place: tree.place };
  }
  const text = `the file holds a ${tree.kind === "list" ? "list" : "single value"}; expected keys, like "log: { level: info }"`;
  throw configFailure([{ place: tree.place, text }]);
}

function splitExtends(tree: Mapping): { extends: ConfigTree | undefined; own: Mapping } {
  const entries = new Map(tree.entries);
  entries.delete("extends");
  return { extends: tree.entries.get("extends"), own: { ...tree, entries } };
}

function baseName(base: ConfigTree | undefined): string | null {
  if (base === undefined) return IMPLIED_BASE;
  if (base.kind === "scalar" && base.value === null) return null;
  if (base.kind === "scalar" && typeof base.value === "string" && base.value.trim() !== "") {
    return base.value;
  }
  const text =
    "extends is no file name; expected a path, nightdesk:default, nightdesk:embedded or null";
  throw configFailure([{ place: base.place, text }]);
}

/** The effective user of this process, which the system checks when a file is opened. */
type FileUser = {
  readonly uid: number;
  /** The group that contains only this user; null on macOS, where all users are in `staff`. */
  readonly ownGid: number | null;
};

type Owned = Pick<Stats, "uid" | "gid" | "mode">;

const ROOT = 0;
const STICKY = 0o1000;

/**
 * Why a discovered file can't be trusted with what this user runs: another user could have put it there. It checks the opened
 * file, because the name may meanwhile lead elsewhere, then a link to it and the folders above. The reason completes a sentence
 * that begins with the file's name.
 */
async function distrustOf(handle: FileHandle, file: string): Promise<string | undefined> {
  const user = currentUser();
  const opened = await handle.stat();
  // Reading a folder fails anyway.
  if (opened.isDirectory()) return undefined;
  if (!opened.isFile()) return "is no regular file";
  const [link, real] = [await lstat(file), await realpath(file)];
  const meant = await stat(real);
  if (meant.dev !== opened.dev || meant.ino !== opened.ino) return "changed while it was opened";
  return (
    distrustOfFile(opened, user) ??
    (link.isSymbolicLink() && !isOwn(link, user) ? "is a link of another user" : undefined) ??
    (await distrustOfFolders([...foldersAbove(file), ...foldersAbove(real)]))
  );
}

/** The same check for owner and mode of a file only. Pure. */
export function distrustOfFile(file: Owned, user: FileUser): string | undefined {
  if (!isOwn(file, user)) return `belongs to another user (uid ${file.uid})`;
  if ((file.mode & 0o002) !== 0) return "can be written by everybody";
  if ((file.mode & 0o020) !== 0 && file.gid !== user.ownGid)
    return `can be written by a group (gid ${file.gid})`;
  return undefined;
}

/** Root can replace any file anyway. */
const isOwn = ({ uid }: Owned, user: FileUser): boolean => uid === user.uid || uid === ROOT;

async function distrustOfFolders(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of new Set(folders)) {
    const { mode } = await stat(folder);
    if ((mode & 0o002) !== 0 && (mode & STICKY) === 0)
      return `lies in ${JSON.stringify(folder)}, where everybody may replace it`;
  }
  return undefined;
}

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}

/** Why other users could have put files into a folder; the reason completes a sentence that begins with its name. */
export async function distrustOfFolder(folder: string): Promise<string | undefined> {
  return (
    distrustOfFile(await stat(folder), currentUser()) ??
    (await distrustOfFolders(foldersAbove(folder)))
  );
}

function currentUser(): FileUser {
  const { geteuid, getegid, platform } = process;
  if (geteuid === undefined || getegid === undefined) throw new Error("This system has no users.");
  return { uid: geteuid(), ownGid: platform === "darwin" ? null : getegid() };
}
