import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import {
  ANSWER_FROM_FILES_PROMPT,
  ANSWER_FROM_NOTES_PROMPT,
  ANSWER_PROMPT,
  DIGEST_PROMPT,
  EXTRACT_PROMPT,
  NOTE_PART_PROMPT,
  SUMMARIZE_PROMPT,
} from "../answer/prompts.ts";
import {
  SELECT_TOOL_BY_SCHEMA,
  SELECT_TOOL_BY_TEXT,
  SELECT_TOOL_NATIVELY,
} from "../answer/select-tool-prompt.ts";
import { retrieve, snapshotHash } from "../evidence/retrieve.ts";
import type { PipelineDependencies } from "../evidence/types.ts";
import { withDeadline } from "../models/deadline.ts";
import type { ModelFacts, ModelRegistry } from "../models/model.ts";
import { routeNow } from "./recorded-calls.ts";
import { wasCarriedOut } from "./recorded-evidence.ts";
import { asFailure } from "./repeatable-input.ts";
import type { RepeatableInput } from "../../shared/kinds.ts";

/** What would differ if the job ran again now: code, configuration, prompts, models, retrieval, notes, reads. */
export async function compareWithNow(
  run: RunDetail,
  input: RepeatableInput,
  present: CurrentSetup,
  signal: AbortSignal,
): Promise<readonly CurrentFact[]> {
  const { version, configSha256, deps } = present;
  return [
    compareValue("nightdesk", run.version, version),
    compareValue("configuration", run.config_sha256, configSha256),
    ...comparePrompts(run),
    ...(await compareModels(run, input, present, signal)),
    ...(await compareRetrieval(run, input, deps, signal)),
    ...(await compareNotes(run, deps)),
    ...(await compareReads(run, deps)),
  ];
}

const compareValue = (what: string, then: string | null, now: string): CurrentFact =>
  then === now
    ? { what, verdict: "same", words: now }
    : { what, verdict: "differs", words: `${then ?? "not recorded"} then, ${now} now` };

const TEMPLATES = [
  SELECT_TOOL_BY_TEXT,
  SELECT_TOOL_BY_SCHEMA,
  SELECT_TOOL_NATIVELY,
  ANSWER_PROMPT,
  NOTE_PART_PROMPT,
  ANSWER_FROM_NOTES_PROMPT,
  ANSWER_FROM_FILES_PROMPT,
  SUMMARIZE_PROMPT,
  EXTRACT_PROMPT,
  DIGEST_PROMPT,
].map(({ version }) => version);

const nameOf = (version: string): string => version.slice(0, version.lastIndexOf("/"));

/** The templates that the run's calls were made from, each with its version now. */
function comparePrompts({ calls }: RunDetail): readonly CurrentFact[] {
  const used = new Set(calls.map(({ prompt_template: template }) => template));
  return [...used].flatMap((then) => {
    const now = TEMPLATES.find((version) => nameOf(version) === nameOf(then));
    return now === undefined ? [] : [compareValue("prompt", then, now)];
  });
}

/** Notes that were deleted since, and those that would join the prompts only now. */
async function compareNotes(
  { notes, models }: RunDetail,
  deps: CurrentSetup["deps"],
): Promise<readonly CurrentFact[]> {
  const what = "durable notes";
  const second = models.find(({ pass }) => pass === "second");
  // A model without language is given none.
  if (second === undefined || second.facts["reads_prompts"] === false) return [];
  const now = await deps.notes().catch(asFailure);
  if (now instanceof Failure) return [{ what, verdict: "unknown", words: now.message }];
  const idsThen = notes.map(({ memory_id: id }) => id);
  const idsNow = now.shown.map(({ memoryId }) => memoryId);
  const gone = idsThen.filter((id) => !idsNow.includes(id));
  const added = idsNow.filter((id) => !idsThen.includes(id));
  if (gone.length + added.length === 0) {
    return [{ what, verdict: "same", words: `${idsThen.length} in the prompts` }];
  }
  const words = [
    ...(gone.length === 0 ? [] : [`gone: ${gone.join(", ")}`]),
    ...(added.length === 0 ? [] : [`new: ${added.join(", ")}`]),
  ].join("; ");
  return [{ what, verdict: "differs", words }];
}

/** A host that is there says what it has within this time. */
const HOST_MS = 5_000;

/** Who would take each pass now and why, and whether its host still has the same weights and would get the same options. */
async function compareModels(
  { models }: RunDetail,
  input: RepeatableInput,
  present: CurrentSetup,
  signal: AbortSignal,
): Promise<readonly CurrentFact[]> {
  const route = routeNow(input, present.deps.settings.model);
  const chosen = models.map((use) => compareChoice(use, route[passOf(use)]));
  const byName = new Map(models.map((use) => [use.model, use]));
  const facts: CurrentFact[] = [];
  for (const use of byName.values()) facts.push(...(await compareFacts(use, present, signal)));
  return [...chosen, ...facts];
}

type Use = RunDetail["models"][number];

const passOf = ({ pass }: Use): "first" | "second" => (pass === "first" ? "first" : "second");

function compareChoice(
  use: Use,
  { name, why }: { readonly name: string | null; readonly why: string },
): CurrentFact {
  const what = `model of the ${use.pass} pass`;
  const then = `${use.model} (${use.why})`;
  return use.model === name
    ? { what, verdict: "same", words: `${name} (${why})` }
    : { what, verdict: "differs", words: `${then} then, ${name ?? "none"} (${why}) now` };
}

async function compareFacts(
  use: Use,
  { deps, host }: CurrentSetup,
  signal: AbortSignal,
): Promise<readonly CurrentFact[]> {
  const what = `weights of ${use.model}`;
  const isLocal = use.facts["is_free"] === true;
  if (!isLocal && host === "leave") {
    return [{ what, verdict: "unknown", words: "the host was not asked" }];
  }
  const now = await describeNow(use, deps.models, signal);
  if (now instanceof Failure) {
    const verdict = now.code === "MODEL_NOT_FOUND" ? "differs" : "unknown";
    return [{ what, verdict, words: `${now.code}: ${now.message}` }];
  }
  const options = compareOptions(use, now);
  return isLocal ? [options] : [compareDigest(what, use.facts["digest"], now.digest), options];
}

/** What the host says of the model now. @returns the failure where it says nothing */
async function describeNow(
  { model }: Use,
  models: ModelRegistry,
  signal: AbortSignal,
): Promise<ModelFacts | Failure> {
  const late = () => new Failure("MODEL_UNREACHABLE", `no answer within ${HOST_MS / 1_000} s`);
  try {
    const limits = { signal, timeoutMs: HOST_MS, late };
    return (await withDeadline(limits, (until) => models.get(model, until))).facts;
  } catch (error) {
    signal.throwIfAborted();
    return asFailure(error);
  }
}

function compareDigest(what: string, then: unknown, now: string | null): CurrentFact {
  if (typeof then !== "string" || now === null) {
    return { what, verdict: "unknown", words: "the host tells no digest" };
  }
  return then === now
    ? { what, verdict: "same", words: `digest ${then}` }
    : { what, verdict: "differs", words: `digest ${then} then, ${now} now` };
}

const optionsSchema = z.record(z.string(), z.unknown());

/** Such as temperature, seed and window; for the model without language its version. */
function compareOptions({ model, facts }: Use, { options: now }: ModelFacts): CurrentFact {
  const what = `options of ${model}`;
  const then = optionsSchema.parse(facts["options"]);
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])].sort();
  const changed = names.filter((name) => then[name] !== now[name]);
  return changed.length === 0
    ? {
        what,
        verdict: "same",
        words: names.map((name) => `${name} ${String(now[name])}`).join(", "),
      }
    : {
        what,
        verdict: "differs",
        words: changed
          .map((name) => `${name} ${String(then[name])} then, ${String(now[name])} now`)
          .join("; "),
      };
}

/** Reads that were refused then, tried again: the file may be there now, or be refused for another reason. */
async function compareReads(
  { tool_calls: toolCalls }: RunDetail,
  { readTextFile }: CurrentSetup["deps"],
): Promise<readonly CurrentFact[]> {
  const refused = toolCalls.filter((call) => wasCarriedOut(call) && call.error_code !== null);
  return Promise.all(
    refused.map(async ({ args, error_code: then }) => {
      const path = String(args["path"]);
      const reading = await readTextFile({ path, maxChars: Number(args["max_chars"]) });
      const now = reading.kind === "refused" ? reading.code : "is read";
      const what = `read of ${path}`;
      return now === then
        ? ({ what, verdict: "same", words: `refused: ${now}` } as const)
        : ({ what, verdict: "differs", words: `${then ?? ""} then, ${now} now` } as const);
    }),
  );
}

/** How the snapshot that a search gives now differs from the run's: passages that are gone, new, or in other order. */
async function compareRetrieval(
  { evidence }: RunDetail,
  input: RepeatableInput,
  deps: CurrentSetup["deps"],
  signal: AbortSignal,
): Promise<readonly CurrentFact[]> {
  if (input.kind !== "ask") return [];
  const what = "retrieval";
  const found = await retrieve(input, deps, signal).catch(asFailure);
  if (found instanceof Failure) {
    return [{ what, verdict: "unknown", words: `${found.code}: ${found.message}` }];
  }
  const then = evidence.flatMap(({ chunk_key: chunkKey, ...row }) =>
    chunkKey === null
      ? []
      : [{ ...row, chunkKey, lineStart: row.line_start, lineEnd: row.line_end }],
  );
  const hash = snapshotHash(then);
  if (hash === found.hash) {
    return [{ what, verdict: "same", words: `${then.length} passages, snapshot ${hash}` }];
  }
  const gone = missingFrom(then, found.passages);
  const added = missingFrom(found.passages, then);
  const words = [
    `snapshot ${hash} then, ${found.hash} now`,
    ...(gone.length === 0 ? [] : [`gone: ${gone.join(", ")}`]),
    ...(added.length === 0 ? [] : [`new: ${added.join(", ")}`]),
    ...(gone.length + added.length === 0 ? ["the same passages in another order"] : []),
  ].join("; ");
  return [{ what, verdict: "differs", words }];
}

type LocatedEvidence = {
  readonly chunkKey: string;
  readonly sha256: string;
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
};

/** The places of those passages that the others are without, as `path:lines`. */
const missingFrom = (
  passages: readonly LocatedEvidence[],
  others: readonly LocatedEvidence[],
): readonly string[] =>
  passages
    .filter(
      ({ chunkKey, sha256 }) =>
        !others.some((other) => other.chunkKey === chunkKey && other.sha256 === sha256),
    )
    .map(({ path, lineStart, lineEnd }) => `${path}:${lineStart}-${lineEnd}`);

/** One thing that a run of the same job would meet now. */
export type CurrentFact = {
  readonly what: string;
  /** unknown: it can't be told now; the words say why. */
  readonly verdict: "same" | "differs" | "unknown";
  readonly words: string;
};

/** What a run made now would be made with. */
type CurrentSetup = {
  readonly version: string;
  readonly configSha256: string;
  readonly deps: Omit<PipelineDependencies, "calls">;
  /** Whether the model host may be asked what it has. */
  readonly host: "ask" | "leave";
};
