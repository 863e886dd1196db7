import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ChosenFile, ConfigRequest } from "./choose-config-file.ts";
import { placeOf } from "./config-tree.ts";
import type { Mapping, Place } from "./config-tree.ts";
import { chooseDatabaseDirectory } from "./database-directory.ts";
import { configFailure, quote } from "./problem.ts";
import type { Config, ConfigValues } from "./schema.ts";

type Choice = {
  readonly values: ConfigValues;
  readonly tree: Mapping;
  readonly chosen: ChosenFile;
};

/**
 * The folders of DESIGN.md section 5. The work root is what flag, environment or configuration say (a relative
 * one in a file counts from the folder of the configuration file that was chosen), else the folder of a
 * nightdesk.yaml that was found, else the current folder, unless that is the package itself.
 *
 * @throws Failure CONFIG_ERROR where the work root is no folder
 */
export function chooseRoots(
  { values, tree, chosen }: Choice,
  request: ConfigRequest,
): Config["roots"] {
  const configRoot = dirname(chosen.file);
  const place = placeOf(tree, ["workroot"]);
  const workroot =
    values.workroot === null
      ? impliedWorkroot(chosen, request)
      : resolve(configRoot, expandHome(values.workroot, request.env));
  checkFolder(workroot, values.workroot === null ? { origin: "current folder" } : place);
  return {
    configRoot,
    workroot,
    databaseDirectory: chooseDatabaseDirectory(values.database.directory, workroot, request.env),
  };
}

function impliedWorkroot(chosen: ChosenFile, { cwd, packageRoot }: ConfigRequest): string {
  if (chosen.how === "found") return dirname(chosen.file);
  if (realpathSync(cwd) !== realpathSync(packageRoot)) return resolve(cwd);
  const text =
    `the work root would be Nightdesk's own package folder ${quote(cwd)}; expected a folder of yours: change to it, ` +
    "give --workroot DIR, set NIGHTDESK_WORKROOT, or write a nightdesk.yaml into it";
  throw configFailure([{ place: { origin: "current folder" }, text }]);
}

function checkFolder(workroot: string, place: Place): void {
  const found = statSync(workroot, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const reason = found === undefined ? "does not exist" : "is no folder";
  const text = `the work root ${quote(workroot)} ${reason}; create it, or name another with --workroot DIR or NIGHTDESK_WORKROOT`;
  throw configFailure([{ place, text }]);
}

const expandHome = (path: string, env: ConfigRequest["env"]): string =>
  path.startsWith("~/") && env["HOME"] !== undefined ? join(env["HOME"], path.slice(2)) : path;
