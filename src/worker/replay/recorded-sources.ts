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
      /** The words of files by path. */
      readonly texts: ReadonlyMap<string, FileText>;
      /** Of a digest, which reads no files. */
      readonly children: readonly DigestChild[];
    }
  | {
      readonly kind: "changed";
      readonly what: "files" | "jobs";
      readonly sources: readonly ChangedSource[];
    };

/** What a file says now, whole. */
export type FileText = Pick<Reading, "text" | "textSha256" | "extractor" | "locator">;

type Places = {
  readonly database: Database;
  readonly sandbox: () => Promise<Pick<Sandbox, "readTextFile">>;
};

/** What a run rests on, looked at again: files through the sandbox, for a digest what the rows of its jobs say. */
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

/** What the tools of an investigation gave is kept with its steps, whatever became of the files: but for what checks found. */
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

/** The most that one read through the sandbox gives. */
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

/** Each file once, in the order of the record; a file that was found in two states stands there twice. */
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

/** Whether a piece of a file does not say what it said: another extractor may make another text of the same bytes. */
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
 * The jobs that do not say what they said when a digest told of them, by what its prompts showed and what it named as
 * left out: answers that changed, that came later, or that are gone with their jobs.
 */
function compareChildren(run: Digest, children: readonly DigestChild[]): readonly ChangedSource[] {
  const shown = answersIn(run);
  const changed = [
    ...shown.flatMap((answer) => lostAnswer(answer, children)),
    ...compareLeftOut(run, children),
    ...newAnswers(run, shown, children),
  ];
  // A job whose answer is gone stands among those left out as well, and what is said first says more.
  return [...new Map(changed.toReversed().map((one) => [one.path, one])).values()].toReversed();
}

type Answer = Digest["calls"][number]["prompt"]["evidence"][number];

/** The answers of jobs that prompts showed, each once; what stands above them is lines about answers. */
function answersIn({ calls }: Digest): readonly Answer[] {
  const all = calls.flatMap(({ prompt }) => prompt.evidence);
  const answers = all.filter(({ summaryLevel }) => summaryLevel === 0);
  return [...new Map(answers.map((one) => [`${one.path}\n${one.sha256}`, one])).values()];
}

/** A long answer may have been shown to some line only. */
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

/** Only a digest that was finished, or that found nothing to ask about, had looked at all of them. */
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

/** Something that a run rests on, a file or the job that a digest tells of, and that is not as it was. */
type ChangedSource = {
  readonly path: string;
  /** In a word: changed, the code with which the sandbox refuses a file now, or what became of a job. */
  readonly reason: string;
  readonly message: string;
};
