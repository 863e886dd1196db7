import { z } from "zod";
import type { Database } from "../../shared/store/connection/database.ts";
import { leftOutSchema } from "../../shared/store/jobs/dependencies.ts";
import type { LeftOut } from "../../shared/store/jobs/dependencies.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import type { Reading } from "../evidence/types.ts";
import { leftOutOf, sha256Of } from "../jobs/digest-items.ts";
import type { DigestChild } from "../jobs/digest-items.ts";
import { loadChildren } from "../jobs/digest.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import { cleanText, sliceCodePoints } from "../text/clean-text.ts";
import type { RepeatableInput } from "../../shared/job/kinds.ts";

export type RecordedSources =
  | {
      readonly kind: "unchanged";
      /** The texts of files by path. */
      readonly texts: ReadonlyMap<string, FileText>;
      /** For a digest, which reads no files. */
      readonly children: readonly DigestChild[];
    }
  | {
      readonly kind: "changed";
      readonly what: "files" | "jobs";
      readonly sources: readonly ChangedSource[];
    };

/** The whole current text of a file. */
export type FileText = Pick<Reading, "text" | "textSha256" | "extractor" | "locator">;

type Places = {
  readonly database: Database;
  readonly sandbox: () => Promise<Pick<Sandbox, "readTextFile">>;
};

/** Reads the sources of a run again: files through the sandbox, or for a digest the rows of its jobs. */
export async function readRecordedSources(
  run: RunDetail,
  input: RepeatableInput,
  { database, sandbox }: Places,
): Promise<RecordedSources> {
  if (input.kind === "digest") {
    const children = await loadChildren(run.job_id, database);
    const sources = compareChildren(run, children);
    if (sources.length > 0) return { kind: "changed", what: "jobs", sources };
    return { kind: "unchanged", texts: new Map(), children };
  }
  const { texts, changed } = await readRecordedFiles(restsOnFiles(run, input), await sandbox());
  return changed.length > 0
    ? { kind: "changed", what: "files", sources: changed }
    : { kind: "unchanged", texts, children: [] };
}

const revisedSchema = z.object({ found: z.array(z.string()) });

/** The results of an investigation's tools are stored with its steps, so only files that checks found are read again. */
function restsOnFiles(
  run: RunDetail,
  input: RepeatableInput,
): Pick<RunDetail, "evidence" | "tool_calls" | "calls"> {
  if (input.kind !== "investigate") return run;
  const found = run.events.flatMap(
    ({ detail }) => revisedSchema.safeParse(detail).data?.found ?? [],
  );
  const evidence = run.evidence.filter(({ kind, path }) => kind === "file" && found.includes(path));
  return { evidence, tool_calls: [], calls: [] };
}

/** The limit of one read through the sandbox. */
const MOST_CHARS = 10_000_000;

type Reference = { readonly path: string; readonly sha256: string };

/** Reads again, through the sandbox, every file that the run's evidence, reads and prompts refer to. */
async function readRecordedFiles(
  run: Pick<RunDetail, "evidence" | "tool_calls" | "calls">,
  sandbox: Pick<Sandbox, "readTextFile">,
): Promise<{
  readonly texts: ReadonlyMap<string, FileText>;
  readonly changed: readonly ChangedSource[];
}> {
  const texts = new Map<string, FileText>();
  const changed: ChangedSource[] = [];
  for (const { path, sha256 } of referencesOf(run)) {
    const recorded = { path, lookup: "exact", sha256 } as const;
    const reading = await sandbox.readTextFile({ ...recorded, maxChars: MOST_CHARS });
    if (reading.kind === "refused") {
      changed.push({ path, reason: reading.code, message: reading.message });
    } else if (reading.sha256 !== sha256) {
      const message = `sha256 ${sha256} then, ${reading.sha256} now`;
      changed.push({ path, reason: "changed", message });
    } else if (isOtherText(run.evidence, reading)) {
      const message = `its bytes are the same, and ${reading.extractor} makes another text of them`;
      changed.push({ path, reason: "changed", message });
    } else {
      texts.set(path, reading);
    }
  }
  return { texts, changed };
}

/** Each file once, in the order of the record; a file that the run found in two versions appears twice. */
function referencesOf({
  evidence,
  tool_calls: toolCalls,
  calls,
}: Parameters<typeof readRecordedFiles>[0]): readonly Reference[] {
  const all = [
    ...evidence,
    ...toolCalls.flatMap(({ result }) => (isReference(result) ? [result] : [])),
    ...calls.flatMap(({ prompt }) => prompt.evidence),
  ];
  const distinct = new Map(all.map(({ path, sha256 }) => [`${path}\n${sha256}`, { path, sha256 }]));
  return [...distinct.values()];
}

const isReference = (result: Readonly<Record<string, unknown>> | null): result is Reference =>
  typeof result?.["path"] === "string" && typeof result["sha256"] === "string";

/** Whether a recorded piece has another text now: a new extractor may extract another text from the same bytes. */
const isOtherText = (
  evidence: RunDetail["evidence"],
  { path, text }: Pick<Reading, "path" | "text">,
): boolean =>
  evidence.some(
    (piece) =>
      piece.path === path &&
      sha256Of(sliceCodePoints(text, piece.start_char, piece.end_char)) !== piece.text_sha256,
  );

type Digest = Pick<RunDetail, "state" | "summary" | "calls">;

/**
 * The jobs whose answers differ from the time of the digest, according to its prompts and its list of jobs left out: answers
 * that changed, that came later, or that are gone with their jobs.
 */
function compareChildren(run: Digest, children: readonly DigestChild[]): readonly ChangedSource[] {
  const shown = answersIn(run);
  const changed = [
    ...shown.flatMap((answer) => lostAnswer(answer, children)),
    ...compareLeftOut(run, children),
    ...newAnswers(run, shown, children),
  ];
  // A job whose answer is gone is also among those left out; the first entry for a path says more, and wins.
  return [...new Map(changed.toReversed().map((one) => [one.path, one])).values()].toReversed();
}

type Answer = Digest["calls"][number]["prompt"]["evidence"][number];

/** The answers of jobs that the prompts showed, each once; blocks of higher levels are lines about answers. */
function answersIn({ calls }: Digest): readonly Answer[] {
  const all = calls.flatMap(({ prompt }) => prompt.evidence);
  const answers = all.filter(({ summaryLevel }) => summaryLevel === 0);
  return [...new Map(answers.map((one) => [`${one.path}\n${one.sha256}`, one])).values()];
}

/** Compares only the beginning: a prompt may have shown a long answer in part. */
const isAnswer = ({ path, words }: DigestChild, { sha256, endChar, ...shown }: Answer): boolean =>
  cleanText(path) === shown.path &&
  words !== null &&
  sha256Of(sliceCodePoints(words, 0, endChar)) === sha256;

function lostAnswer(answer: Answer, children: readonly DigestChild[]): ChangedSource[] {
  if (children.some((child) => isAnswer(child, answer))) return [];
  const { path } = answer;
  const [now] = children.filter((child) => cleanText(child.path) === path);
  if (now === undefined) {
    return [{ path, reason: "deleted", message: "its job is not there any more" }];
  }
  return now.words === null
    ? [
        {
          path,
          reason: now.state,
          message: `succeeded then, ${endOf(now.state, now.errorCode)} now`,
        },
      ]
    : [{ path, reason: "changed", message: "its job gave another answer since" }];
}

/** Only a digest that was finished, or that had nothing to ask about, had read all jobs. */
function newAnswers(
  { state, calls }: Digest,
  shown: readonly Answer[],
  children: readonly DigestChild[],
): ChangedSource[] {
  if (state !== "succeeded" && calls.length > 0) return [];
  return children
    .filter((child) => child.words !== null && child.words !== "")
    .filter((child) => !shown.some((answer) => isAnswer(child, answer)))
    .map(({ path }) => ({ path, reason: "new", message: "its job had no such answer then" }));
}

const summarySchema = z.object({ failed: z.array(leftOutSchema) });

function compareLeftOut({ summary }: Digest, children: readonly DigestChild[]): ChangedSource[] {
  if (summary === null) return [];
  const { failed } = summarySchema.parse(summary);
  const now = leftOutOf(children);
  const ended = (list: readonly LeftOut[], { job_id: id }: LeftOut) => {
    const found = list.find((one) => one.job_id === id);
    return found === undefined ? "not left out" : endOf(found.state, found.error_code);
  };
  const distinct = new Map([...failed, ...now].map((one) => [one.job_id, one]));
  return [...distinct.values()].flatMap((one) => {
    const [before, after] = [ended(failed, one), ended(now, one)];
    if (before === after) return [];
    return [{ path: one.path, reason: "changed", message: `${before} then, ${after} now` }];
  });
}

const endOf = (state: string, code: string | null): string =>
  code === null ? state : `${state} with ${code}`;

/** A source of a run, which is a file or a job of a digest, that has changed. */
type ChangedSource = {
  readonly path: string;
  /** One word: changed, the code of the refusal to read a file now, or the state of a job. */
  readonly reason: string;
  readonly message: string;
};
