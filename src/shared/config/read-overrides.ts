import { resolve } from "node:path";
import { given } from "./choose-config-file.ts";
import type { ConfigRequest } from "./choose-config-file.ts";
import { overlay, scalarAt } from "./config-tree.ts";
import type { Mapping } from "./config-tree.ts";
import { readVariable } from "./read-variable.ts";

type Given = ReturnType<typeof given>;
type Target = readonly [string, ...string[]];

/**
 * What flags and environment set, to lay over the files: a flag wins over a variable. Relative work roots are
 * made absolute from the current folder. The model host is taken as it is: model-base-url.ts checks it on demand.
 *
 * @throws Failure CONFIG_ERROR for a `_FILE` variable that can't be followed
 */
export async function readOverrides(request: ConfigRequest): Promise<Mapping> {
  const { flags, env } = request;
  const logLevel = given(flags.logLevel, "flag --log-level");
  const hostFlag = given(flags.ollamaBaseUrl, "flag --ollama-base-url");
  const settings: [Target, Given][] = [
    [["workroot"], await workroot(request)],
    [["database", "url"], await readVariable("DATABASE_URL", request)],
    [["queue", "redis_url"], await readVariable("REDIS_URL", request)],
    [["model", "base_url"], hostFlag ?? hostVariable(env)],
    [["embed", "base_url"], hostFlag],
    [["log", "level"], logLevel ?? variable("NIGHTDESK_LOG_LEVEL", env)],
  ];
  const layers = settings.flatMap(([path, value]) =>
    value === null ? [] : [scalarAt(path, value.value, { origin: value.origin })],
  );
  return layers.reduce(overlay, NOTHING);
}

const NOTHING: Mapping = { kind: "mapping", entries: new Map(), place: { origin: "default" } };

async function workroot(request: ConfigRequest): Promise<Given> {
  const chosen =
    given(request.flags.workroot, "flag --workroot") ??
    (await readVariable("NIGHTDESK_WORKROOT", request));
  return chosen === null ? null : { ...chosen, value: resolve(request.cwd, chosen.value) };
}

const hostVariable = (env: ConfigRequest["env"]): Given =>
  variable("NIGHTDESK_OLLAMA_BASE_URL", env) ?? variable("OLLAMA_BASE_URL", env);

const variable = (name: string, env: ConfigRequest["env"]): Given =>
  given(env[name], `environment ${name}`);
