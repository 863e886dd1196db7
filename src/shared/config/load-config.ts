import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { checkAcrossKeys } from "./check-across-keys.ts";
import { selectConfigFile, settingOf } from "./select-config-file.ts";
import type { SelectedFile, ConfigRequest } from "./select-config-file.ts";
import { deepFreeze, originsOf, overlay, placeOf, scalarAt } from "./config-tree.ts";
import type { Mapping, SourceLocation } from "./config-tree.ts";
import { selectDatabaseDirectory } from "./database-directory.ts";
import { configFailure, quote } from "./problem.ts";
import { readConfigChain } from "./read-config-chain.ts";
import { readSmallFile } from "./read-small-file.ts";
import type { Config, ConfigValues } from "./schema.ts";
import { validateValues } from "./validate-values.ts";

/**
 * The one configuration of a process: files, then environment, then flags, checked and deeply frozen. base-url.ts checks the
 * model host later, when it is needed.
 * @throws Failure CONFIG_ERROR; one line per problem with its place, the key, the value and the expected value, and never a
 * password
 */
export async function loadConfig(request: ConfigRequest): Promise<Config> {
  const chosen = selectConfigFile(request);
  const written = await readConfigChain(chosen, request);
  const tree = overlay(written, await readOverrides(request));
  const values = validateValues(tree);
  const roots = selectRoots({ values, tree, chosen }, request);
  checkAcrossKeys(values, tree, roots.workroot);
  return deepFreeze({
    ...values,
    file: chosen.file,
    chosen: chosen.how,
    roots,
    origins: originsOf(tree),
  });
}

type Setting = ReturnType<typeof settingOf>;
type Target = readonly [string, ...string[]];

/**
 * The values of flags and environment, to overlay on the files. A flag wins over a variable. Relative work roots become absolute
 * from the current folder.
 * @throws Failure CONFIG_ERROR for a `_FILE` variable whose file cannot be read
 */
async function readOverrides(request: ConfigRequest): Promise<Mapping> {
  const { flags, env } = request;
  const logLevel = settingOf(flags.logLevel, "flag --log-level");
  const hostFlag = settingOf(flags.ollamaBaseUrl, "flag --ollama-base-url");
  const settings: [Target, Setting][] = [
    [["workroot"], await readWorkroot(request)],
    [["database", "url"], await readVariable("DATABASE_URL", request)],
    [["database", "direct_url"], await readVariable("DATABASE_DIRECT_URL", request)],
    [["queue", "redis_url"], await readVariable("REDIS_URL", request)],
    [["dashboard", "token"], await readVariable("NIGHTDESK_DASHBOARD_TOKEN", request)],
    [["on_batch_end", "secret"], await readVariable("NIGHTDESK_WEBHOOK_SECRET", request)],
    [["model", "base_url"], hostFlag ?? hostVariable(env)],
    [["embed", "base_url"], hostFlag],
    [["log", "level"], logLevel ?? variableOf("NIGHTDESK_LOG_LEVEL", env)],
  ];
  const layers = settings.flatMap(([path, value]) =>
    value === null ? [] : [scalarAt(path, value.value, { origin: value.origin })],
  );
  return layers.reduce(overlay, EMPTY);
}

const EMPTY: Mapping = { kind: "mapping", entries: new Map(), place: { origin: "default" } };

async function readWorkroot(request: ConfigRequest): Promise<Setting> {
  // The folder of --in is its own work root.
  const chosen =
    settingOf(request.flags.workroot, "flag --workroot") ??
    (request.flags.in === undefined ? await readVariable("NIGHTDESK_WORKROOT", request) : null);
  return chosen === null ? null : { ...chosen, value: resolve(request.cwd, chosen.value) };
}

const hostVariable = (env: ConfigRequest["env"]): Setting =>
  variableOf("NIGHTDESK_OLLAMA_BASE_URL", env) ?? variableOf("OLLAMA_BASE_URL", env);

const variableOf = (name: string, env: ConfigRequest["env"]): Setting =>
  settingOf(env[name], `environment ${name}`);

const MAX_BYTES = 64 * 1024;

/**
 * A variable, or the content of the file in its `_FILE` variant without trailing newlines. Blank variables count as unset.
 * @throws Failure CONFIG_ERROR if both are set, or the file is missing, empty or no text
 */
async function readVariable(
  name: string,
  { env, cwd }: ConfigRequest,
): Promise<ReturnType<typeof settingOf>> {
  const value = settingOf(env[name], `environment ${name}`);
  const pointer = settingOf(env[`${name}_FILE`], `environment ${name}_FILE`);
  if (pointer === null) return value;
  const place = { origin: pointer.origin };
  if (value !== null) {
    throw configFailure([{ place, text: `${name} is set as well; expected only one of the two` }]);
  }
  const content = await readSmallFile(resolve(cwd, pointer.value), MAX_BYTES);
  const secret = content.kind === "text" ? content.text.replace(/(?<![\r\n])[\r\n]+$/, "") : "";
  if (secret.trim() !== "") return { value: secret, origin: pointer.origin };
  const reason =
    content.kind === "unreadable"
      ? content.reason
      : content.kind === "missing"
        ? "does not exist"
        : "is empty";
  const text = `the file ${quote(pointer.value)} ${reason}; expected a file that holds the value of ${name}`;
  throw configFailure([{ place, text }]);
}

type Choice = {
  readonly values: ConfigValues;
  readonly tree: Mapping;
  readonly chosen: SelectedFile;
};

/**
 * Selects the folders of a process. The work root comes from a flag, the environment or the configuration (a relative one in a
 * file counts from the folder of the selected configuration file), else it is the folder of a nightdesk.yaml that was found,
 * else the current folder, but never the package folder.
 * @throws Failure CONFIG_ERROR if the work root is no folder
 */
function selectRoots({ values, tree, chosen }: Choice, request: ConfigRequest): Config["roots"] {
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
    databaseDirectory: selectDatabaseDirectory(values.database.directory, workroot, request.env),
  };
}

function impliedWorkroot(chosen: SelectedFile, { cwd, packageRoot }: ConfigRequest): string {
  if (chosen.how === "found") return dirname(chosen.file);
  if (realpathSync(cwd) !== realpathSync(packageRoot)) return resolve(cwd);
  const text =
    `the work root would be Nightdesk's own package folder ${quote(cwd)}; expected a folder of yours: change to it, ` +
    "give --workroot DIR, set NIGHTDESK_WORKROOT, or write a nightdesk.yaml into it";
  throw configFailure([{ place: { origin: "current folder" }, text }]);
}

function checkFolder(workroot: string, place: SourceLocation): void {
  const found = statSync(workroot, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const reason = found === undefined ? "does not exist" : "is no folder";
  const text = `the work root ${quote(workroot)} ${reason}; create it, or name another with --workroot DIR or NIGHTDESK_WORKROOT`;
  throw configFailure([{ place, text }]);
}

const expandHome = (path: string, env: ConfigRequest["env"]): string =>
  path.startsWith("~/") && env["HOME"] !== undefined ? join(env["HOME"], path.slice(2)) : path;
