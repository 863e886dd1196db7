import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { hashOfFolder, userStateFolder } from "./database-directory.ts";

/** What selects a configuration: the flags and the environment of a command, and where it runs. */
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
 * `found`: by looking for nightdesk.yaml upwards. `folder`: made for a folder of documents, and kept in the user's state
 * folder. `named`: by flag or environment. `shipped`: none of them.
 */
export type SelectedFile = {
  readonly file: string;
  readonly how: "named" | "found" | "folder" | "shipped";
  /** Who named it; for messages. */
  readonly namedBy: string | null;
};

export const FILE_NAME = "nightdesk.yaml";

/**
 * `--in`, `--config`, NIGHTDESK_CONFIG, what the current folder or a parent has (its nightdesk.yaml, or the one that was made
 * for it), the shipped embedded.yaml. The file of `--in` may not be there yet: make-folder-config.ts makes it.
 */
export function selectConfigFile(request: ConfigRequest): SelectedFile {
  const { flags, env, cwd } = request;
  if (flags.in !== undefined) return selectInFolder(resolve(cwd, flags.in), env);
  const named =
    given(flags.config, "flag --config") ??
    given(env["NIGHTDESK_CONFIG"], "environment NIGHTDESK_CONFIG");
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

/** The file that a name means: `nightdesk:` and that of a shipped one, or a path from `folder`. */
export function resolveConfigName(name: string, folder: string, request: ConfigRequest): string {
  const shipped = /^nightdesk:(default|embedded|compose|container)$/.exec(name)?.[1];
  return shipped === undefined ? resolve(folder, name) : shippedFile(shipped, request);
}

/** A file as people read it: relative to the current folder where it lies below it. */
export function showFile(file: string, { cwd }: Pick<ConfigRequest, "cwd">): string {
  const path = relative(cwd, file);
  return path === "" || path.startsWith("..") || isAbsolute(path) ? file : path;
}

/** A value that is there and not blank, with where it came from. */
export const given = (
  value: string | undefined,
  origin: string,
): { readonly value: string; readonly origin: string } | null =>
  value === undefined || value.trim() === "" ? null : { value, origin };

/** Whether a file came with the program. Who could change it could change the program. */
export const isShipped = (file: string, { packageRoot }: ConfigRequest): boolean =>
  file.startsWith(join(packageRoot, "configs") + sep);

const shippedFile = (name: string, { packageRoot }: ConfigRequest): string =>
  join(packageRoot, "configs", `${name}.yaml`);

function findUpwards(folder: string, env: ConfigRequest["env"]): SelectedFile | null {
  const found = selectInFolder(folder, env);
  if (stands(found.file)) return found;
  const parent = dirname(folder);
  return parent === folder ? null : findUpwards(parent, env);
}

/** The folder's own file where it has one, else the one that is or would be kept for it. */
function selectInFolder(folder: string, env: ConfigRequest["env"]): SelectedFile {
  const own = join(folder, FILE_NAME);
  const state = stateOfFolder(folder, env);
  return state === undefined || stands(own)
    ? { file: own, how: "found", namedBy: null }
    : { file: join(state, FILE_NAME), how: "folder", namedBy: null };
}

const MOST_NAME_CHARS = 24;

/** Where configuration and database of a folder are kept that has none of its own: by its name and its path. */
export function stateOfFolder(folder: string, env: ConfigRequest["env"]): string | undefined {
  const base = userStateFolder(env);
  if (base === undefined) return undefined;
  try {
    const real = realpathSync(folder);
    const name = basename(real).replaceAll(/[^A-Za-z0-9_-]+/g, "-");
    return join(base, `${name.slice(0, MOST_NAME_CHARS)}-${hashOfFolder(real)}`);
  } catch {
    // A folder that is not there, or that this user may not enter, has no state.
    return undefined;
  }
}

/** Whether there is something of that name, if only a link that leads nowhere: what is there is never passed over. */
export function stands(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Above a folder that this user may not search, nothing can be found.
    return false;
  }
}
