import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { hashOfFolder, userStateFolder } from "./database-directory.ts";

/** The inputs that select a configuration: flags, environment and current folder of a command. */
export type ConfigRequest = {
  readonly flags: {
    readonly config?: string;
    readonly workroot?: string;
    /** The folder of documents that a command is about. */
    readonly in?: string;
    readonly ollamaBaseUrl?: string;
    readonly logLevel?: string;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Folder of the installed package, absolute; holds `configs/`. */
  readonly packageRoot: string;
};

/**
 * `named`: by flag or environment. `found`: a nightdesk.yaml in the current folder or above. `folder`: generated for a folder of
 * documents, in the user's state folder. `shipped`: none of these.
 */
export type SelectedFile = {
  readonly file: string;
  readonly how: "named" | "found" | "folder" | "shipped";
  /** The flag or variable that named it; for messages. */
  readonly namedBy: string | null;
};

export const FILE_NAME = "nightdesk.yaml";

/**
 * The order is `--in`, `--config`, NIGHTDESK_CONFIG, the nightdesk.yaml or the generated file of the current folder or a parent,
 * the shipped embedded.yaml. The file of `--in` may not exist yet: make-folder-config.ts creates it.
 */
export function selectConfigFile(request: ConfigRequest): SelectedFile {
  const { flags, env, cwd } = request;
  if (flags.in !== undefined) return selectInFolder(resolve(cwd, flags.in), env);
  const named =
    settingOf(flags.config, "flag --config") ??
    settingOf(env["NIGHTDESK_CONFIG"], "environment NIGHTDESK_CONFIG");
  if (named !== null) {
    return {
      file: resolveConfigName(named.value, cwd, request),
      how: "named",
      namedBy: named.origin,
    };
  }
  const found = findUpwards(cwd, env);
  if (found !== null) return found;
  return { file: shippedFile("embedded", request), how: "shipped", namedBy: null };
}

/** The file behind a name: `nightdesk:` with the name of a shipped file, or a path relative to `folder`. */
export function resolveConfigName(name: string, folder: string, request: ConfigRequest): string {
  const shipped = /^nightdesk:(default|embedded|compose|container)$/.exec(name)?.[1];
  return shipped === undefined ? resolve(folder, name) : shippedFile(shipped, request);
}

/** A file for messages: relative to the current folder if it lies below. */
export function showFile(file: string, { cwd }: Pick<ConfigRequest, "cwd">): string {
  const path = relative(cwd, file);
  return path === "" || path.startsWith("..") || isAbsolute(path) ? file : path;
}

/** A value that is set and not blank, with its origin. */
export const settingOf = (
  value: string | undefined,
  origin: string,
): { readonly value: string; readonly origin: string } | null =>
  value === undefined || value.trim() === "" ? null : { value, origin };

/** Whether a file belongs to the program. Whoever can change it can change the program too. */
export const isShipped = (file: string, { packageRoot }: ConfigRequest): boolean =>
  file.startsWith(join(packageRoot, "configs") + sep);

const shippedFile = (name: string, { packageRoot }: ConfigRequest): string =>
  join(packageRoot, "configs", `${name}.yaml`);

function findUpwards(folder: string, env: ConfigRequest["env"]): SelectedFile | null {
  const found = selectInFolder(folder, env);
  if (entryExists(found.file)) return found;
  const parent = dirname(folder);
  return parent === folder ? null : findUpwards(parent, env);
}

/** The folder's own file if it has one, else its file in the user's state folder, which may not exist. */
function selectInFolder(folder: string, env: ConfigRequest["env"]): SelectedFile {
  const own = join(folder, FILE_NAME);
  const state = stateOfFolder(folder, env);
  return state === undefined || entryExists(own)
    ? { file: own, how: "found", namedBy: null }
    : { file: join(state, FILE_NAME), how: "folder", namedBy: null };
}

const MOST_NAME_CHARS = 24;

/** The folder in the user's state folder for a folder without a configuration, by its name and a hash of its path. */
export function stateOfFolder(folder: string, env: ConfigRequest["env"]): string | undefined {
  const base = userStateFolder(env);
  if (base === undefined) return undefined;
  try {
    const real = realpathSync(folder);
    const name = basename(real).replaceAll(/[^A-Za-z0-9_-]+/g, "-");
    return join(base, `${name.slice(0, MOST_NAME_CHARS)}-${hashOfFolder(real)}`);
  } catch {
    // A missing folder, or one that this user may not enter, has no state.
    return undefined;
  }
}

/** Whether an entry of that name exists, even a dangling link: an existing entry is never skipped. */
export function entryExists(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Below a folder that this user may not search, nothing can be found.
    return false;
  }
}
