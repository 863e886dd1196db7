import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { JobInput } from "../../src/shared/job/job.ts";
import { selectRunDetails } from "../../src/shared/views/runs.ts";
import { rowOf } from "../conformance/jobs.ts";
import { describeOn } from "../support/describe-on.ts";
import { partOf } from "../support/prompt-parts.ts";
import type { Part } from "../support/prompt-parts.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";
import { tellStory } from "../support/tell-story.ts";
import { callFor } from "../support/pipeline-world.ts";

const FERRY = "allowed/corpus/ferry.md";
const TEXT =
  "# Ferry\n\nThe ferry to Harwick leaves at 09:15.\n\nThe crossing takes 42 minutes.\n\nA ticket costs 12 EUR.\n";
const QUESTION = `How long does the crossing take, according to ${FERRY}?`;

describeOn("postgres", "the trace of a run", (name) => {
  let desk: ReplayDesk;
  /** What the model says in each part; the last goes on. */
  let says: Record<Part, string[]>;
  let folders = 0;

  const read = callFor(FERRY);
  const verdict = (answer: string): string =>
    JSON.stringify({ quote: "The crossing takes 42 minutes.", cites: [1], answer });
  const asks = (minutes: number): string => {
    const question = `Does ferry.md say that the crossing takes ${String(minutes)} minutes?`;
    return JSON.stringify({ checks: [{ claim: 1, question, expects: "yes" }] });
  };

  beforeAll(async () => {
    desk = await openReplayDesk(name, [
      {
        name: "drafter",
        contextLength: 4_096,
        respond(messages) {
          const replies = says[partOf(messages)];
          return (replies.length > 1 ? replies.shift() : replies[0]) ?? "";
        },
      },
    ]);
    await desk.write(FERRY, TEXT);
  });
  afterAll(() => desk.dispose());

  beforeEach(() => {
    folders += 1;
    const change = "Say 42 minutes.";
    says = {
      first: [read],
      answer: ["The crossing takes 24 minutes [1].", "The crossing takes 42 minutes [1]."],
      decompose: [asks(24), asks(42)],
      loop: ["END"],
      verdict: [verdict("no"), verdict("yes")],
      audit: [
        JSON.stringify({ corrections: [{ claim: 1, where: `${FERRY}:5`, change }], score: 3 }),
        JSON.stringify({ corrections: [], score: 4 }),
      ],
    };
  });

  const REVISED: JobInput = { kind: "ask", question: QUESTION, options: { verify: "standard" } };
  const INVESTIGATION: JobInput = { kind: "investigate", task: "How long does the crossing take?" };

  const fileOf = (folder: string, name = "trace.jsonl"): string =>
    join(desk.workroot, folder, name);
  const textOf = (folder: string, name?: string): Promise<string> =>
    readFile(fileOf(folder, name), "utf8");
  const rowsOf = async (folder: string, name: string): Promise<readonly unknown[]> =>
    (await textOf(folder, name))
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line));

  /** Works a job, and exports it. */
  async function exported(input: JobInput): Promise<{ jobId: string; folder: string }> {
    const jobId = await desk.work(input);
    const folder = `audit/${String(folders)}`;
    expect(await desk.trace(jobId, folder)).toMatchObject({ code: 0, stdout: `${folder}\n` });
    return { jobId, folder };
  }

  test("The trace of a verified run tells its whole story", async () => {
    const { folder } = await exported(REVISED);
    const job = (check: string, minutes: number, answer: string): readonly string[] => [
      `${check}: a job was asked: Does ferry.md say that the crossing takes ${String(minutes)} minutes?`,
      `${check}: read_text_file gave 103 of 103 characters of ${FERRY}`,
      `${check}: drafter (step): END`,
      `${check}: drafter (verdict): ${verdict(answer)}`,
      `${check}: the job ended succeeded.`,
    ];
    const found = `found by ${FERRY}:5 "The crossing takes 42 minutes."`;
    const wanted = { claim: 1, where: `${FERRY}:5`, change: "Say 42 minutes." };
    expect(tellStory(await textOf(folder))).toEqual([
      `Somebody asked: ${QUESTION}`,
      "Run 1 began.",
      `drafter (first): ${read}`,
      `read_text_file gave 103 of 103 characters of ${FERRY}`,
      "drafter (second): The crossing takes 24 minutes [1].",
      `drafter (decompose): ${asks(24)}`,
      `Draft 1 states: The crossing takes 24 minutes. (unsupported, ${FERRY}:5)`,
      "Run 1 ended drafted, verification pending.",
      ...job("check 0.0", 24, "no"),
      `Check 0.0: yes was expected, no was ${found}`,
      "Run 2 began.",
      `read_text_file gave 103 of 103 characters of ${FERRY}`,
      `drafter (audit): ${JSON.stringify({ corrections: [wanted], score: 3 })}`,
      `Round 0 was given 3 of 4, kept at 2 by contradicted_check: it did not pass. Wanted: Say 42 minutes. (${FERRY}:5)`,
      "drafter (retry): The crossing takes 42 minutes [1].",
      `drafter (decompose): ${asks(42)}`,
      `Draft 2 states: The crossing takes 42 minutes. (supported, ${FERRY}:5)`,
      "Run 2 ended drafted, verification pending.",
      ...job("check 1.0", 42, "yes"),
      `Check 1.0: yes was expected, yes was ${found}`,
      "Run 3 began.",
      `read_text_file gave 103 of 103 characters of ${FERRY}`,
      `drafter (audit): ${JSON.stringify({ corrections: [], score: 4 })}`,
      "Round 1 was given 4 of 4: it passed.",
      "Run 3 ended succeeded, verification passed, grade verified: The crossing takes 42 minutes [1].",
    ]);
  });

  test("A verified run is repeated with its checks and its audit", async () => {
    const { code, stdout } = await desk.replay(await desk.work(REVISED));
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/5 of 5 repeated[\s\S]*result +the same/),
    });
  });

  test("What stayed open stands in the trace, and its refusal is repeated", async () => {
    says.answer = ["The crossing takes 42 minutes [1]."];
    says.decompose = [asks(42)];
    says.verdict = [JSON.stringify({ quote: null, cites: [], answer: "unknown" })];
    const { jobId, folder } = await exported(REVISED);
    const told = tellStory(await textOf(folder));
    expect(told.slice(-2)).toEqual([
      expect.stringMatching(
        /^Open: Does ferry.md say that the crossing takes 42 minutes\? Needed: /,
      ),
      expect.stringMatching(/^Run \d ended refused, verification failed/),
    ]);
    expect(await textOf(folder, "notes.md")).toContain("## What is open");
    expect(await desk.replay(jobId)).toMatchObject({ code: 0 });
  });

  test("An investigation is repeated without its files, with what its tools gave", async () => {
    says.loop = [read, "END"];
    says.answer = ["The crossing takes 42 minutes [1]."];
    const jobId = await desk.work(INVESTIGATION);
    await desk.remove(FERRY);
    const { code, stdout } = await desk.replay(jobId);
    await desk.write(FERRY, TEXT);
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  test("Evidence, moves, queries and notes stand beside the trace, for this user alone", async () => {
    says.loop = [
      JSON.stringify({ type: "tool_call", name: "search_text", args: { text: "crossing takes" } }),
      JSON.stringify({ type: "tool_call", name: "search_text", args: { text: "Takes, crossing" } }),
      read,
      "END",
    ];
    says.answer = ["The crossing takes 42 minutes [1]."];
    const { folder } = await exported(INVESTIGATION);
    expect((await readdir(join(desk.workroot, folder))).sort()).toEqual([
      ...["evidence.jsonl", "moves.jsonl", "notes.md", "queries.jsonl", "trace.jsonl"],
    ]);
    expect(((await stat(fileOf(folder))).mode & 0o777).toString(8)).toBe("600");
    expect(await rowsOf(folder, "moves.jsonl")).toMatchObject([
      { type: "search", tool: "search_text", scope: "job" },
      { type: "search" },
      { type: "open", tool: "read_text_file" },
    ]);
    expect(await rowsOf(folder, "queries.jsonl")).toMatchObject([
      { query: "crossing takes", family: "cros", novel: true, hits: 1 },
      { query: "Takes, crossing", family: "cros", novel: false },
    ]);
    expect(await rowsOf(folder, "evidence.jsonl")).toContainEqual(
      expect.objectContaining({ path: FERRY, admitted: true, rejected_reason: null, scope: "job" }),
    );
    const notes = await textOf(folder, "notes.md");
    expect(notes).toContain("How long does the crossing take?");
    expect(notes).toMatch(/## Statements, and what carries them[\s\S]*42 minutes/);
  });

  test("The notes tell people of checks, score and cost", async () => {
    const { folder } = await exported(REVISED);
    const notes = await textOf(folder, "notes.md");
    for (const words of [
      "succeeded, grade verified, verification passed",
      "Expected yes, found no, which contradicts it.",
      "2 of 4; 3 before what keeps it low",
      "Say 42 minutes.",
      "24 minutes",
      "| audit |",
    ])
      expect(notes).toContain(words);
  });

  test("A reply that was changed in the record makes another result, or ends the repetition", async () => {
    const jobId = await desk.work(REVISED);
    await desk.db.query(
      "update nightdesk_data.model_calls set reply = replace(reply, 'takes 42 min', 'takes 43 min') where job_id = $1",
      [jobId],
    );
    const { code, stdout } = await desk.replay(jobId);
    expect({ code, stdout }).toMatchObject({ code: 1 });
  });

  test("A folder that holds something is not written to, and one outside of the work root is denied", async () => {
    const jobId = await desk.work(INVESTIGATION);
    await desk.write("audit/full/old.txt", "old");
    expect(await desk.trace(jobId, "audit/full")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is no empty folder. Name a new one"),
    });
    expect(await readdir(join(desk.workroot, "audit/full"))).toEqual(["old.txt"]);
    expect(await desk.trace(jobId, "../elsewhere")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("PATH_DENIED"),
    });
  });

  test("An id of nothing is told with what to do", async () => {
    expect(await desk.trace("11111111-0000-4000-8000-000000000000", "audit/none")).toMatchObject({
      stderr: expect.stringContaining("nightdesk runs list shows the ids"),
    });
  });
});

const DUSK = "# Ferry\n\nThe ferry left the quay at dusk. It came back at dawn.\n";
const SAYS = "The ferry left the quay at dusk [1].";

describeOn("postgres", "jobs of which another was the same", (name) => {
  let desk: ReplayDesk;
  let says = SAYS;
  beforeAll(async () => {
    desk = await openReplayDesk(name, [{ name: "writer", respond: () => says }], {
      reuse: "by_digest",
    });
    // That its build ignores schemas is found out by the first reply, and the next request is another.
    await desk.write("allowed/corpus/first.md", DUSK);
    await desk.work(summary("first.md"));
  });
  afterAll(() => desk.dispose());

  const summary = (name: string): JobInput => ({
    kind: "summarize",
    path: `allowed/corpus/${name}`,
  });

  /** Works the job. @returns its run, and how many calls its host was asked for */
  async function work(input: JobInput) {
    const before = desk.double.chats().length;
    const jobId = await desk.work(input);
    const [run] = await selectRunDetails(desk.db, jobId);
    if (run === undefined) throw new Error("the job has no run");
    return { jobId, run, asked: desk.double.chats().length - before };
  }

  describe("a job of which nothing has changed", () => {
    test("asks nobody, and says whose result it took over", async () => {
      await desk.write("allowed/corpus/a.md", DUSK);
      const first = await work(summary("a.md"));
      expect(first).toMatchObject({ asked: 1, run: { state: "succeeded", cached_from: null } });
      const second = await work(summary("a.md"));
      expect(second).toMatchObject({
        asked: 0,
        run: {
          state: "succeeded",
          answer: first.run.answer,
          cached_from: first.run.run_id,
          prompt_tokens: 0,
          completion_tokens: 0,
          model_ms: 0,
        },
      });
      expect(second.run.calls).toEqual([
        expect.objectContaining({ origin: "cached", cached_from: first.run.run_id }),
      ]);
      const { rows } = await desk.db.query(
        "select cached_from from nightdesk.results where job_id = $1",
        [second.jobId],
      );
      expect(rows).toEqual([{ cached_from: first.run.run_id }]);
      // The third names the run that asked, and not the one that took it over.
      expect((await work(summary("a.md"))).run.cached_from).toBe(first.run.run_id);
    });

    test("can be repeated from its own record when the other is deleted", async () => {
      const { jobId, run } = await work(summary("a.md"));
      await desk.db.query("delete from nightdesk_data.jobs where run_id = $1", [run.cached_from]);
      expect(await desk.replay(jobId)).toMatchObject({ code: 0 });
    });
  });

  describe("a job asks again", () => {
    test.each([
      ["when its file has changed", `${DUSK}One line more.\n`, {}],
      ["when it has other options", DUSK, { bullets: true }],
    ])("%s", async (_, text, options) => {
      await desk.write("allowed/corpus/b.md", DUSK);
      await work(summary("b.md"));
      await desk.write("allowed/corpus/b.md", text);
      const again = await work({ kind: "summarize", path: "allowed/corpus/b.md", options });
      expect(again).toMatchObject({ asked: 1, run: { cached_from: null } });
      await desk.remove("allowed/corpus/b.md");
    });

    test("when what the other was told was refused", async () => {
      await desk.write("allowed/corpus/quoted.md", DUSK);
      says = `## "The ferry sank at noon of that day"\n\n${SAYS}`;
      const first = await work(summary("quoted.md"));
      expect(first.run).toMatchObject({ state: "refused" });
      says = SAYS;
      const second = await work(summary("quoted.md"));
      expect(second).toMatchObject({ asked: 1, run: { state: "succeeded", cached_from: null } });
    });

    test("when its prompt is about another file of the same words", async () => {
      await desk.write("allowed/corpus/c.md", DUSK);
      await desk.write("allowed/corpus/d.md", DUSK);
      await work(summary("c.md"));
      expect(await work(summary("d.md"))).toMatchObject({ asked: 1 });
    });

    test("when the weights are others", async () => {
      await desk.write("allowed/corpus/e.md", DUSK);
      const { jobId } = await work(summary("e.md"));
      await desk.db.query(
        "update nightdesk_data.model_calls set request_sha256 = repeat('0', 64) where job_id = $1",
        [jobId],
      );
      expect((await rowOf(desk.db, jobId))["state"]).toBe("succeeded");
      expect(await work(summary("e.md"))).toMatchObject({ asked: 1 });
    });
  });
});
