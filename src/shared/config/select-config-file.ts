import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** What selects a configuration: the flags and the environment of a command, and where it runs. */
export type ConfigRequest = {
  readonly flags: {
    readonly config?: string;
    readonly workroot?: string;
    readonly ollamaBaseUrl?: string;
    readonly logLevel?: string;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Folder of the installed package, absolute; holds `configs/`. */
  readonly packageRoot: string;
};

/** `found`: by looking for nightdesk.yaml upwards. `named`: by flag or environment. `shipped`: neither. */
export type SelectedFile = {
  readonly file: string;
  readonly how: "named" | "found" | "shipped";
  /** Who named it; for messages. */
  readonly namedBy: string | null;
};

const FILE_NAME = "nightdesk.yaml";

/** `--config`, NIGHTDESK_CONFIG, nightdesk.yaml in the current folder or a parent, the shipped embedded.yaml. */
export function selectConfigFile(request: ConfigRequest): SelectedFile {
  const { flags, env, cwd } = request;
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
  const found = findUpwards(cwd);
  if (found !== null) return { file: found, how: "found", namedBy: null };
  return { file: shippedFile("embedded", request), how: "shipped", namedBy: null };
}

/** The file that a name means: `nightdesk:default`, `nightdesk:embedded`, or a path from `folder`. */
export function resolveConfigName(name: string, folder: string, request: ConfigRequest): string {
  const shipped = /^nightdesk:(default|embedded)$/.exec(name)?.[1];
  return shipped === undefined ? resolve(folder, name) : shippedFile(shipped, request);
}

/** A file as people read it: relative to the current folder where it lies below it. */
export function showFile(file: string, { cwd }: ConfigRequest): string {
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

function findUpwards(folder: string): string | null {
  const file = join(folder, FILE_NAME);
  if (stands(file)) return file;
  const parent = dirname(folder);
  return parent === folder ? null : findUpwards(parent);
}

/** Whether there is something of that name, if only a link that leads nowhere: what is there is never passed over. */
function stands(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Above a folder that this user may not search, nothing can be found.
    return false;
  }
}
