import { z } from "zod";
import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import { Failure } from "../../shared/failure.ts";
import { withDeadline } from "../model/call-deadline.ts";
import type { ModelFacts, ModelRegistry } from "../model/model.ts";
import { asFailure } from "./as-failure.ts";
import type { Present, Prospect } from "./prospect.ts";
import { routeNow } from "./recorded-route.ts";
import type { RepeatableInput } from "./repeatable-input.ts";

/** A host that is there says what it has within this time. */
const HOST_MS = 5_000;

/** Who would take each pass now and why, and whether its host still has the same weights and would get the same options. */
export async function compareModels(
  { models }: RunDetail,
  input: RepeatableInput,
  present: Present,
  signal: AbortSignal,
): Promise<readonly Prospect[]> {
  const route = routeNow(input, present.deps.settings.model);
  const chosen = models.map((use) => compareChoice(use, route[passOf(use)]));
  const byName = new Map(models.map((use) => [use.model, use]));
  const facts: Prospect[] = [];
  for (const use of byName.values()) facts.push(...(await compareFacts(use, present, signal)));
  return [...chosen, ...facts];
}

type Use = RunDetail["models"][number];

const passOf = ({ pass }: Use): "first" | "second" => (pass === "first" ? "first" : "second");

function compareChoice(
  use: Use,
  { name, why }: { readonly name: string | null; readonly why: string },
): Prospect {
  const what = `model of the ${use.pass} pass`;
  const then = `${use.model} (${use.why})`;
  return use.model === name
    ? { what, verdict: "same", words: `${name} (${why})` }
    : { what, verdict: "differs", words: `${then} then, ${name ?? "none"} (${why}) now` };
}

async function compareFacts(
  use: Use,
  { deps, host }: Present,
  signal: AbortSignal,
): Promise<readonly Prospect[]> {
  const what = `weights of ${use.model}`;
  const isLocal = use.facts["provider"] === "extractive";
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

function compareDigest(what: string, then: unknown, now: string | null): Prospect {
  if (typeof then !== "string" || now === null) {
    return { what, verdict: "unknown", words: "the host tells no digest" };
  }
  return then === now
    ? { what, verdict: "same", words: `digest ${then}` }
    : { what, verdict: "differs", words: `digest ${then} then, ${now} now` };
}

const optionsSchema = z.record(z.string(), z.unknown());

/** Such as temperature, seed and window; for the model without language its version. */
function compareOptions({ model, facts }: Use, { options: now }: ModelFacts): Prospect {
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
