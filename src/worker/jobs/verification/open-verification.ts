import type { Config } from "../../../shared/config/schema.ts";
import { pathPrefixIn, VERIFIED_KINDS } from "../../../shared/job/job.ts";
import type { JobInput } from "../../../shared/job/job.ts";
import { withModel } from "../../../shared/job/kinds.ts";
import { routeModels } from "../../../shared/job/route-models.ts";
import type { Queryable } from "../../../shared/store/connection/database.ts";
import { selectVerification } from "../../../shared/store/jobs/verification.ts";
import type { StoredVerification } from "../../../shared/job/verification.ts";
import { modelOf } from "../../answer/call-model.ts";
import type { CheckSources, PipelineDependencies, Verification } from "../../evidence/types.ts";
import { mostRerankMs } from "../../settings.ts";

type VerifiedInput = Extract<JobInput, { kind: "ask" | "summarize" | "extract" | "investigate" }>;

type Parts = {
  readonly config: Pick<Config, "verify" | "ask" | "model" | "retrieve" | "queue">;
  readonly deps: Pick<
    PipelineDependencies,
    "models" | "readTextFile" | "search" | "versions" | "fenceKey"
  >;
  readonly listPaths: CheckSources["listPaths"];
  readonly listPathsNow: CheckSources["listPathsNow"];
  readonly stored: () => Promise<StoredVerification>;
};

const isVerified = (input: JobInput): input is VerifiedInput =>
  VERIFIED_KINDS.some((kind) => kind === input.kind);

/** The verification for the answers of a job: by the mode of the job, else of the configuration; undefined if that is off. */
export function openVerification(
  {
    jobId,
    input,
    tier,
  }: { readonly jobId: string; readonly input: JobInput; readonly tier: number },
  { config, deps, stored, ...listed }: Parts,
): Verification | undefined {
  if (!isVerified(input)) return undefined;
  const mode = input.options?.verify ?? config.verify.mode;
  if (mode === "off") return undefined;
  const pathPrefix = pathPrefixIn(input);
  const { model } = config.verify;
  const negative = input.options?.negative ?? config.verify.negative;
  return {
    settings: { ...config.verify, mode, negative },
    jobId,
    stored,
    async auditor(signal) {
      if (model === null) return null;
      const choice = routeModels("", config.model, { model }).second;
      return { model: await modelOf(choice, deps.models, signal), choice };
    },
    auditorName: model ?? input.options?.model,
    tier,
    next: nextAfter(config.verify.tiers[input.kind] ?? [], tier, input),
    pathPrefix,
    sources: sourcesOf({ deps, ...listed, pathPrefix, config }),
    fenceKey: deps.fenceKey,
  };
}

/** The last entry of a list of models, which means that a person decides. */
const HUMAN = "human";

/** The next instance after a tier. A job that names a model uses only that model. */
function nextAfter(
  tiers: readonly string[],
  tier: number,
  { options }: VerifiedInput,
): Verification["next"] {
  const models = tiers.filter((one) => one !== HUMAN);
  if (options?.model === undefined && tier + 1 < models.length) return "model";
  return tiers.at(-1) === HUMAN ? "human" : null;
}

/** The input with the model of a tier from the list of its kind; unchanged if the input names a model. */
export function withTierModel<Input extends JobInput>(
  input: Input,
  tier: number,
  { tiers, mode }: Config["verify"],
): Input {
  if (!isVerified(input) || input.options?.model !== undefined) return input;
  if ((input.options?.verify ?? mode) === "off") return input;
  const models = (tiers[input.kind] ?? []).filter((one) => one !== HUMAN);
  const model = models[Math.min(tier, models.length - 1)];
  return model === undefined ? input : withModel(input, { model });
}

/** The model that the input of an answer names, if any. */
export const modelNamedBy = (input: JobInput): string | undefined =>
  isVerified(input) ? input.options?.model : undefined;

/** Loads the stored rounds of a job. */
export const loadRounds =
  (db: Queryable, jobId: string): Parts["stored"] =>
  () =>
    selectVerification(db, jobId);

/** Limits rules to what the job may read: files by its sandbox, rows by its path prefix. */
function sourcesOf({
  deps,
  listPaths,
  listPathsNow,
  pathPrefix,
  config,
}: Omit<Parts, "stored"> & { readonly pathPrefix: string | undefined }): CheckSources {
  const maxChars = config.ask.max_chars_full_read;
  return {
    listPaths,
    listPathsNow,
    read: (path) => deps.readTextFile({ path, lookup: "exact", maxChars }),
    // A statement without letters and digits can't be searched.
    search: async (text, limit) =>
      /[\p{L}\p{N}]/u.test(text)
        ? deps.search(
            { text, limit, pathPrefix: pathPrefix ?? null, source: null, documents: {} },
            AbortSignal.timeout(SEARCH_MS + mostRerankMs(config)),
          )
        : [],
    async versions(paths) {
      const found = [...(await deps.versions(paths))];
      const within = (path: string) => path.startsWith(pathPrefix ?? "");
      return new Map(found.map(([path, { newer }]) => [path, { newer: newer.filter(within) }]));
    },
  };
}

const SEARCH_MS = 30_000;
