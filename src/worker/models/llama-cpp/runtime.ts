import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import { isRecord, parseJson } from "../../../shared/json-value.ts";
import { modelFolderOf } from "../../embedders/transformers/model-files.ts";
import type { GgufRole } from "./gguf-file.ts";

/** The library that is installed, in the version that was tried. */
export const RUNTIME = { name: "node-llama-cpp", version: "3.22.1" } as const;

type RuntimeConfig = {
  readonly model: { readonly llama_cpp: Pick<ConfigValues["model"]["llama_cpp"], "runtime"> };
  readonly embed: Pick<ConfigValues["embed"], "cache_dir">;
  readonly roots: { readonly workroot: string };
};

/** The folder that holds the runtime, absolute. */
export function runtimeFolderOf({ model, embed, roots }: RuntimeConfig): string {
  const { runtime } = model.llama_cpp;
  if (runtime !== null) return posix.resolve(roots.workroot, runtime);
  const place = { model_id: "llama-cpp", cache_dir: embed.cache_dir, local_model_path: null };
  return modelFolderOf(place, roots.workroot);
}

export type InstalledRuntime = {
  /** Absolute path of the library's module. */
  readonly library: string;
  readonly version: string;
};

/** What is installed in a folder; undefined where nothing is, or not all of it. */
export function findRuntime(folder: string): InstalledRuntime | undefined {
  const home = join(folder, "node_modules", RUNTIME.name);
  const library = join(home, "dist", "index.js");
  if (!existsSync(library)) return undefined;
  const description = parseJson(readFileSync(join(home, "package.json"), "utf8"));
  const version = isRecord(description) ? description["version"] : undefined;
  return { library, version: typeof version === "string" ? version : "unknown" };
}

/** @throws Failure with the code of the role where nothing is installed */
export function requireRuntime(
  config: RuntimeConfig,
  { missing }: Pick<GgufRole, "missing">,
): InstalledRuntime {
  const folder = runtimeFolderOf(config);
  const found = findRuntime(folder);
  if (found !== undefined) return found;
  throw new Failure(
    missing,
    `The runtime of llama-cpp is not installed in ${folder}. Run: nightdesk models setup llama-cpp`,
  );
}
