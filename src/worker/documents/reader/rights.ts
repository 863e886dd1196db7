import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { isRecord } from "../../../shared/schema/json-value.ts";

/** What the process that reads formats may do. */
export type ReaderRights = {
  /** Of Node, with which the process is started. */
  readonly flags: readonly string[];
  /** What Node keeps from it: files but for its own code, threads and programs; connections. */
  readonly withheld: "nothing" | "files" | "files and network";
};

type RightsOptions = {
  readonly module?: string;
  readonly known?: Pick<ReadonlySet<string>, "has">;
  readonly readable?: readonly string[];
};

/** The newer name first; Node 20.19 has the other one alone. */
const PERMISSION_FLAGS = ["--permission", "--experimental-permission"];
/** A Node that can allow the network forbids it otherwise. */
const NETWORK_FLAG = "--allow-net";

/**
 * Lets the process read the code of Nightdesk, that is the folder of `dist`, and packages, and do nothing else that Node can
 * forbid. Run from TypeScript it may read the whole checkout, and is given what compiles it: a thread, and an addon.
 * @param module path of this file without links, where the packages are looked up from
 * @param known flags that this Node knows
 * @param readable folders without links that it may read as well
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
      // What the worker was told to load first may be anywhere, and is not for this process.
      ...(isBuilt ? [] : [...process.execArgv, "--allow-addons", "--allow-worker"]),
      permission,
      ...readable.map((path) => `--allow-fs-read=${path}`),
    ],
    withheld: known.has(NETWORK_FLAG) ? "files and network" : "files",
  };
}

/** All that lies in a folder. 20.19 takes one that is not there for a file, and looks for packages there none the less. */
const below = (folder: string): string => join(folder, "*");

/** Those that lie in no other: 20.19 may read not all of the outer one where it is given the inner one as well. */
const outermost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

/** Where what the package in this folder needs may lie. */
function packageFolders(root: string): readonly string[] {
  const folders = new Set<string>();
  addDependencies(root, folders);
  return [...folders];
}

/** Adds where Node looks for what a package needs, up to where it finds it, and what is a link there to elsewhere. */
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
