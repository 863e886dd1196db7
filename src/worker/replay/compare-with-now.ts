import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import { Failure } from "../../shared/failure.ts";
import {
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
import { asFailure } from "./as-failure.ts";
import { compareModels } from "./compare-models.ts";
import { compareReads } from "./compare-reads.ts";
import { compareRetrieval } from "./compare-retrieval.ts";
import type { Present, Prospect } from "./prospect.ts";
import type { RepeatableInput } from "./repeatable-input.ts";

/** What would differ if the job ran again now: code, configuration, prompts, models, retrieval, notes, reads. */
export async function compareWithNow(
  run: RunDetail,
  input: RepeatableInput,
  present: Present,
  signal: AbortSignal,
): Promise<readonly Prospect[]> {
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

const compareValue = (what: string, then: string | null, now: string): Prospect =>
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
  SUMMARIZE_PROMPT,
  EXTRACT_PROMPT,
  DIGEST_PROMPT,
].map(({ version }) => version);

const nameOf = (version: string): string => version.slice(0, version.lastIndexOf("/"));

/** The templates that the run's calls were made from, each with its version now. */
function comparePrompts({ calls }: RunDetail): readonly Prospect[] {
  const used = new Set(calls.map(({ prompt_template: template }) => template));
  return [...used].flatMap((then) => {
    const now = TEMPLATES.find((version) => nameOf(version) === nameOf(then));
    return now === undefined ? [] : [compareValue("prompt", then, now)];
  });
}

/** Notes that were deleted since, and those that would join the prompts only now. */
async function compareNotes(
  { notes, models }: RunDetail,
  deps: Present["deps"],
): Promise<readonly Prospect[]> {
  const what = "durable notes";
  const second = models.find(({ pass }) => pass === "second");
  // A model without language is given none.
  if (second === undefined || second.facts["provider"] === "extractive") return [];
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
