import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { isRecord } from "../../../shared/schema/json-value.ts";

/** The rights of the reading process. */
export type ReaderRights = {
  /** Flags of Node for the process. */
  readonly flags: readonly string[];
  /** What Node forbids. `files`: files other than the code, and threads and child processes; `network`: connections as well. */
  readonly withheld: "nothing" | "files" | "files and network";
};

type RightsOptions = {
  readonly module?: string;
  readonly known?: Pick<ReadonlySet<string>, "has">;
  readonly readable?: readonly string[];
};

/** The newer name first; Node 20.19 has the other one alone. */
const PERMISSION_FLAGS = ["--permission", "--experimental-permission"];
/** A Node with this flag forbids the network without it. */
const NETWORK_FLAG = "--allow-net";

/**
 * Lets the process read the code of Nightdesk (the folder `dist`) and packages, and forbids everything else that Node can
 * forbid. When it runs from TypeScript it may read the whole checkout, and use a thread and an addon for the compiler.
 * @param module path of this file with links resolved; packages are looked up from there
 * @param known flags that this Node knows
 * @param readable more folders that it may read, with links resolved
 */
export function readerRights({
  module = import.meta.filename,
  known = process.allowedNodeEnvironmentFlags,
  readable: more = [],
}: RightsOptions = {}): ReaderRights {
  const permission = PERMISSION_FLAGS.find((flag) => known.has(flag));
  if (permission === undefined) {
    return { flags: process.execArgv, withheld: "nothing" };
  }
  const code = dirname(dirname(dirname(dirname(module))));
  const root = dirname(code);
  const isBuilt = extname(module) === ".js";
  const manifest = join(root, "package.json");
  const own = isBuilt ? [code, manifest] : [root];
  const readable = outermost([...own, ...packageFolders(root), ...more]).map((path) =>
    path === manifest ? path : below(path),
  );
  return {
    flags: [
      // A built process does not get the worker's execArgv, whose preloads may lie anywhere.
      ...(isBuilt ? [] : [...process.execArgv, "--allow-addons", "--allow-worker"]),
      permission,
      ...readable.map((path) => `--allow-fs-read=${path}`),
    ],
    withheld: known.has(NETWORK_FLAG) ? "files and network" : "files",
  };
}

/** A pattern for everything in a folder. Node 20.19 takes a missing folder for a file, and still looks for packages in it. */
const below = (folder: string): string => join(folder, "*");

/** Drops paths within others: given both, Node 20.19 may not read all of the outer one. */
const outermost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

/** The folders where dependencies of the package may lie. */
function packageFolders(root: string): readonly string[] {
  const folders = new Set<string>();
  addDependencies(root, folders);
  return [...folders];
}

/** Adds the folders where Node looks for each dependency, up to the one that holds it, and the targets of links. */
function addDependencies(from: string, folders: Set<string>): void {
  for (const name of dependenciesOf(from)) {
    for (const modules of lookupFolders(from)) {
      folders.add(modules);
      const place = join(modules, name);
      if (!existsSync(place)) continue;
      const real = realpathSync(place);
      if (folders.has(real)) break;
      folders.add(real);
      addDependencies(real, folders);
      break;
    }
  }
}

function lookupFolders(from: string): string[] {
  const parent = dirname(from);
  return [join(from, "node_modules"), ...(parent === from ? [] : lookupFolders(parent))];
}

function dependenciesOf(packageFolder: string): readonly string[] {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
  if (!isRecord(manifest) || !isRecord(manifest["dependencies"])) return [];
  return Object.keys(manifest["dependencies"]);
}
