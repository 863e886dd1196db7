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

type Verified = Extract<JobInput, { kind: "ask" | "summarize" | "extract" | "investigate" }>;

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

const isVerified = (input: JobInput): input is Verified =>
  VERIFIED_KINDS.some((kind) => kind === input.kind);

/** What the answers of a job are verified with: by its own mode, or that of the desk; nothing where that is off. */
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

/** The last of a list of models, where a person is to decide. */
const HUMAN = "human";

/** A model that a job names is the only one that it asks. */
function nextAfter(
  tiers: readonly string[],
  tier: number,
  { options }: Verified,
): Verification["next"] {
  const models = tiers.filter((one) => one !== HUMAN);
  if (options?.model === undefined && tier + 1 < models.length) return "model";
  return tiers.at(-1) === HUMAN ? "human" : null;
}

/** The input for the model of a tier, as the list of its kind has it; as it is where it names a model of its own. */
export function atTier<Input extends JobInput>(
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

/** The model that the input of an answer names; undefined where it names none. */
export const modelNamedBy = (input: JobInput): string | undefined =>
  isVerified(input) ? input.options?.model : undefined;

/** The rounds of a job, as its rows have them. */
export const storedRounds =
  (db: Queryable, jobId: string): Parts["stored"] =>
  () =>
    selectVerification(db, jobId);

/** What rules may look at is what the job may read: files by the sandbox that it is given, rows by its prefix. */
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
    // A statement may have no word that anything could be searched by.
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
