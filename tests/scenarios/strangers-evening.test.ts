import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { findPids } from "../../bench/process-usage.ts";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { jobsOf, judgeEvening } from "../corpora/stranger/judge-evening.ts";
import type { Evening, Validated, Result } from "../corpora/stranger/judge-evening.ts";
import { makeStrangerCorpus } from "../corpora/stranger/make-corpus.ts";
import {
  readStrangerExtractions,
  readStrangerQuestions,
  readStrangerSummaries,
} from "../corpora/stranger/read-stranger.ts";
import { runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";

// One folder for the file: the evening and the morning after of somebody who never thought of us, as he would run it.
const home = mkdtempSync(join(tmpdir(), "nightdesk-evening-"));
const documents = join(home, "documents");
const evening: Evening = {
  questions: readStrangerQuestions(),
  summaries: readStrangerSummaries(),
  extractions: readStrangerExtractions(),
};
const jobs = evening.questions.length + evening.summaries.length + evening.extractions.length;

const run = (...words: readonly string[]): Promise<Ended> =>
  runBin(words, { cwd: home, env: { HOME: home } });
const said: { words: string; ended: Ended }[] = [];
async function step(...words: readonly string[]): Promise<Ended> {
  const ended = await run(...words);
  said.push({ words: words.join(" "), ended });
  return ended;
}

type Exported = Result & {
  readonly summary?: object | null;
  readonly citations: readonly { readonly path: string; readonly quote?: string | null }[];
};
let results: readonly Exported[] = [];
let judged: readonly Validated[] = [];

beforeAll(async () => {
  mkdirSync(documents);
  makeStrangerCorpus(documents);
  const config = {
    workroot: "documents",
    security: {
      allowed_roots: ["."],
      allowed_exts: [".md", ".txt", ".json", ".eml", ".csv", ".log"],
    },
    index: { sources: [{ name: "stranger", root: "." }] },
    model: { provider: "extractive" },
  };
  writeFileSync(join(home, "nightdesk.yaml"), stringify(config));
  writeFileSync(join(home, "evening.jsonl"), jobsOf(evening));
  await step("index");
  await step("enqueue", "evening.jsonl", "--batch-name", "evening");
  await step("batch", "wait", "evening");
  const exported = await step("batch", "export", "evening");
  results = exported.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Exported);
  judged = judgeEvening(evening, new Map(results.map((result) => [result.custom_id, result])));
}, 120_000);

afterAll(async () => {
  // A worker that goes on for a moment would start the database again.
  for (const pid of findPids("worker", [home])) process.kill(pid, "SIGTERM");
  const deadline = Date.now() + 20_000;
  while (findPids("worker", [home]).length > 0 && Date.now() < deadline) {
    await new Promise((wake) => setTimeout(wake, 50));
  }
  await stopEmbedded(join(documents, ".nightdesk"));
  rmSync(home, { recursive: true, force: true });
});

/** At least, and of answerable questions refused at most. */
const BOUNDS = { right: 42, refusedRightly: 14, refusedWrongly: 0, summaries: 11, extractions: 9 };

const count = (kind: Validated["kind"], verdict: Validated["verdict"]): number =>
  judged.filter((one) => one.kind === kind && one.verdict === verdict).length;

describe("the evening", () => {
  test("every command ends as a batch with refusals does", () => {
    expect(
      said.map(({ words, ended }) => [words.split(" ").slice(0, 2).join(" "), ended.code]),
    ).toEqual([
      ["index", 0],
      ["enqueue evening.jsonl", 0],
      ["batch wait", 3],
      ["batch export", 0],
    ]);
    expect(results).toHaveLength(jobs);
  });

  test("no job fails, and each refusal has its type and says something", () => {
    const ends = results.map(({ state }) => state);
    expect(ends.filter((state) => state !== "succeeded" && state !== "refused")).toEqual([]);
    for (const { state, error_code: code, error_message: message } of results) {
      if (state !== "refused") continue;
      expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)+$/);
      expect(code).not.toBe("INTERNAL_ERROR");
      expect(message).toMatch(/\p{L}{3}/u);
    }
  });

  // Measured with bench/stranger.ts, both parts: what is right today must stay so.
  test("answers are right, and what has no answer is refused", () => {
    const counts = {
      questions: count("questions", "right"),
      refusedRightly: count("questions", "refused rightly"),
      refusedWrongly: count("questions", "refused wrongly"),
      summaries: count("summaries", "right"),
      extractions: count("extractions", "right"),
    };
    expect(counts.questions).toBeGreaterThanOrEqual(BOUNDS.right);
    expect(counts.refusedRightly).toBeGreaterThanOrEqual(BOUNDS.refusedRightly);
    expect(counts.refusedWrongly).toBeLessThanOrEqual(BOUNDS.refusedWrongly);
    expect(counts.summaries).toBeGreaterThanOrEqual(BOUNDS.summaries);
    expect(counts.extractions).toBeGreaterThanOrEqual(BOUNDS.extractions);
  });

  test("every answer cites files of the folder, and quotes what stands in them", () => {
    for (const { state, citations, summary } of results) {
      if (state !== "succeeded") continue;
      // An extraction that finds nothing has nothing to cite.
      const isEmpty = Object.values(summary ?? {}).flat().length === 0;
      if (summary === null || summary === undefined || !isEmpty) {
        expect(citations.length).toBeGreaterThan(0);
      }
      for (const { path, quote } of citations) {
        expect(existsSync(join(documents, path))).toBe(true);
        if (typeof quote === "string" && isUtf8(path)) {
          expect(plain(readFileSync(join(documents, path), "utf8"))).toContain(plain(quote));
        }
      }
    }
  });
});

describe("the morning after", () => {
  test("SQL counts what the batch did", async () => {
    const counted = await run(
      "sql",
      "select state, count(*)::int as jobs from results where batch = 'evening' group by state order by state",
      "--json",
    );
    expect(counted.code).toBe(0);
    const rows: unknown = JSON.parse(counted.stdout);
    const refused = results.filter(({ state }) => state === "refused").length;
    expect(rows).toEqual([
      { state: "refused", jobs: refused },
      { state: "succeeded", jobs: jobs - refused },
    ]);
  });

  test("the report names what was refused", async () => {
    expect(await run("batch", "report", "evening")).toMatchObject({ code: 0 });
    // All of the work root is a source: beside the database it becomes no document.
    const report = readFileSync(join(documents, ".nightdesk/reports/evening.md"), "utf8");
    expect(report).toContain("EVIDENCE_NOT_ACQUIRED");
    expect(report).not.toContain("INTERNAL_ERROR");
  });

  test.each([
    [
      "a file that is not there",
      ["summarize", "notes/sauna 2.md", "--wait"],
      4,
      /notes\/sauna\.md|nightdesk runs show/,
    ],
    ["a batch that is not there", ["batch", "show", "yesterday"], 1, /nightdesk batch list/],
    ["an unknown command", ["anwser", "What?"], 2, /--help/],
  ] as const)("%s is said to be the user's, with what to do next", async (_, words, code, next) => {
    const ended = await run(...words);
    expect(ended.code).toBe(code);
    expect(ended.stderr + ended.stdout).toMatch(next);
    expect(ended.stderr + ended.stdout).not.toMatch(/INTERNAL_ERROR|node:internal/);
  });
});

const plain = (text: string): string => text.normalize("NFC").replace(/[\s*_`|>#-]+/g, " ");
const isUtf8 = (path: string): boolean =>
  Buffer.compare(
    readFileSync(join(documents, path)),
    Buffer.from(readFileSync(join(documents, path), "utf8")),
  ) === 0;
