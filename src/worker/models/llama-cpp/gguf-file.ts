import { readdir, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import type { FaultCode } from "../../../shared/failure.ts";
import { isModelName, modelFolderOf } from "../../embedders/transformers/model-files.ts";

type ModelsConfig = {
  readonly embed: Pick<ConfigValues["embed"], "cache_dir">;
  readonly roots: { readonly workroot: string };
};

/** What the model of a file is there for, in the words of messages about it. */
export type GgufRole = {
  /** The code of a file, or a runtime, that is not there or can't be loaded. */
  readonly missing: FaultCode;
  /** The key of the configuration that names it. */
  readonly nameKey: string;
  /** The key of the time that a call may take. */
  readonly timeoutKey: string;
  /** What to do so that it needs less memory. */
  readonly less: string;
};

const ENDING = ".gguf";
const MOST_LEVELS = 3;
const MOST_NAMED = 10;

/**
 * The file of a model's name: words with slashes between them below the folder of models, without ".gguf" or with it. Absolute.
 * @throws Failure with the code of the role for a name that is none, and for one of no file, naming those that there are
 */
export async function findModelFile(
  name: string,
  config: ModelsConfig,
  { missing }: Pick<GgufRole, "missing">,
): Promise<string> {
  const plain = name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : name;
  const place = { model_id: plain, cache_dir: config.embed.cache_dir, local_model_path: null };
  const file = `${modelFolderOf(place, config.roots.workroot)}${ENDING}`;
  if (isModelName(plain) && (await isFile(file))) return file;
  const folder = modelFolderOf({ ...place, model_id: "." }, config.roots.workroot);
  const others = await listModelFiles(folder);
  const known =
    others.length === 0
      ? "There is no GGUF file there"
      : `There are ${others.slice(0, MOST_NAMED).join(", ")}${others.length > MOST_NAMED ? ", …" : ""}`;
  throw new Failure(
    missing,
    `There is no ${JSON.stringify(`${plain}${ENDING}`)} in ${folder}. ${known}. Put the file there, or run: ` +
      "nightdesk models fetch OWNER/NAME --gguf FILE",
  );
}

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );

/** Names of the models below a folder, as model.name takes them, sorted. The runtime's folder holds none. */
export async function listModelFiles(folder: string, level = 1): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.isFile() && entry.name.endsWith(ENDING)) {
      names.push(entry.name.slice(0, -ENDING.length));
    } else if (entry.isDirectory() && level < MOST_LEVELS && entry.name !== "node_modules") {
      const below = await listModelFiles(join(folder, entry.name), level + 1);
      names.push(...below.map((name) => posix.join(entry.name, name)));
    }
  }
  return names.sort();
}
