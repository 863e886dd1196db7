import { posix } from "node:path";
import type { Config } from "../shared/config/schema.ts";
import { pathOf, pathPrefixIn } from "../shared/job/job.ts";
import type { JobInput } from "../shared/job/job.ts";
import { pathPrefixOf } from "../shared/files/path-prefix.ts";
import type { Token } from "../shared/store/programs/tokens.ts";
import { investigationProblem } from "../shared/config/tool-presets.ts";

type Grant = Pick<Token, "name" | "kinds" | "presets" | "sources" | "models">;
type Reading = Extract<JobInput, { kind: "ask" | "summarize" | "extract" | "investigate" }>;
type Folder = { readonly source: string; readonly prefix: string };

/**
 * Restricts the jobs of a program to its token: the kind, the preset of tools, the model, and the folder that the job may read.
 * Folder and model are written into the job, so that the worker's sandbox enforces them wherever names and links lead.
 * @returns the job to queue, or the reason for a refusal
 */
export function admitJobs(token: Grant, config: Config): (input: JobInput) => JobInput | string {
  const folders = foldersOf(token, config);
  const models = token.models.map((name) => config.model.aliases[name] ?? name);
  return (input) => {
    if (!token.kinds.some((kind) => kind === input.kind))
      return `the token allows ${token.kinds.join(", ")}, and not ${input.kind}`;
    if (input.kind === "chat") return withModel(input, models, config);
    return isReading(input) ? admitReading(input, token, { folders, models, config }) : input;
  };
}

const isReading = (input: JobInput): input is Reading =>
  ["ask", "summarize", "extract", "investigate"].includes(input.kind);

const foldersOf = ({ sources }: Grant, config: Config): readonly Folder[] =>
  config.index.sources
    .filter(({ name }) => sources.includes(name))
    .flatMap(({ name, root }) => {
      const place = pathPrefixOf(`${root}/`, config.roots.workroot, config);
      return place.kind === "refused" ? [] : [{ source: name, prefix: place.prefix ?? "" }];
    });

function withModel(
  input: Extract<JobInput, { kind: "chat" }>,
  models: readonly string[],
  config: Config,
): JobInput | string {
  const model = modelFor(input.model, models, config);
  return "refused" in model ? model.refused : { ...input, ...model };
}

/** The requested model, else the first model of the token. */
function modelFor(
  named: string | undefined,
  models: readonly string[],
  { model }: Config,
): { readonly model?: string } | { readonly refused: string } {
  const [first] = models;
  if (first === undefined) return named === undefined ? {} : { model: named };
  if (named === undefined) return { model: first };
  return models.includes(model.aliases[named] ?? named)
    ? { model: named }
    : { refused: `the token allows the models ${models.join(", ")}` };
}

type Bounds = {
  readonly folders: readonly Folder[];
  readonly models: readonly string[];
  readonly config: Config;
};

function admitReading(
  input: Reading,
  token: Grant,
  { folders, models, config }: Bounds,
): JobInput | string {
  // The question that it follows may belong to another owner, and names the files that were read for it.
  if (input.kind === "ask" && input.options?.follows !== undefined)
    return "options.follows is not taken from programs";
  const problem = input.kind === "investigate" ? presetProblem(input, token, config) : undefined;
  if (problem !== undefined) return problem;
  const model = modelFor(input.options?.model, models, config);
  if ("refused" in model) return model.refused;
  const prefix = folderFor(input, folders, config);
  if (typeof prefix !== "string") return prefix.refused;
  const bound = prefix === "" ? {} : { path_prefix: prefix };
  return { ...input, options: { ...input.options, ...model, ...bound } };
}

function presetProblem(
  input: Extract<JobInput, { kind: "investigate" }>,
  { presets }: Grant,
  config: Config,
): string | undefined {
  if (input.preset === undefined || !presets.includes(input.preset))
    return `preset must be one of those that the token allows: ${presets.join(", ")}`;
  return investigationProblem(input, config)?.message;
}

/** The path prefix of all documents that the job may read. */
function folderFor(
  input: Reading,
  folders: readonly Folder[],
  config: Config,
): string | { readonly refused: string } {
  const within = (path: string) => folders.find(({ prefix }) => path.startsWith(prefix))?.prefix;
  const wanted = pathPrefixIn(input);
  if (wanted !== undefined) {
    const place = pathPrefixOf(wanted, config.roots.workroot, config);
    const prefix = place.kind === "refused" ? undefined : (place.prefix ?? "");
    if (prefix !== undefined && !isClimbing(wanted) && within(prefix) !== undefined) return prefix;
    return { refused: `options.path_prefix must lie in ${placesOf(folders)}` };
  }
  const source = input.kind === "ask" ? input.options?.source : undefined;
  if (source !== undefined) {
    const folder = folders.find((one) => one.source === source);
    return folder?.prefix ?? { refused: `options.source must be one of ${namesOf(folders)}` };
  }
  const path = pathOf(input);
  const [only, ...others] = folders;
  const found = path === undefined ? undefined : within(posix.normalize(path));
  if (found !== undefined) return found;
  if (only !== undefined && others.length === 0) return only.prefix;
  return {
    refused:
      path === undefined
        ? `the token reads several sources: name one by options.path_prefix, in ${placesOf(folders)}`
        : `path must lie in ${placesOf(folders)}`,
  };
}

const isClimbing = (path: string): boolean => path.split("/").includes("..");
const placesOf = (folders: readonly Folder[]): string =>
  folders.length === 0
    ? "a source of the token, and none of them is configured any more"
    : folders.map(({ prefix }) => (prefix === "" ? "the work root" : prefix)).join(" or ");
const namesOf = (folders: readonly Folder[]): string =>
  folders.map(({ source }) => source).join(", ");
