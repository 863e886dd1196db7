import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { layOutLines, plainText, widthOf } from "../../../src/shared/terminal/styled-text.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { CHECKED_RECORD, partBy, replyBy, runByHand } from "../runs-by-hand.ts";
import { answered, failed, refused } from "../work-by-hand.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

/** The lines under a title, up to the next empty one. */
function sectionOf(stdout: string, title: string): readonly string[] {
  const lines = stdout.split("\n");
  const start = lines.findIndex((line) => line === title || line.startsWith(`${title} (`));
  const end = lines.indexOf("", start);
  return start === -1 ? [] : lines.slice(start + 1, end === -1 ? undefined : end);
}

describe("runs show", () => {
  test("says who ran when, and with what it was made", async () => {
    const { runId, jobId } = await runByHand(desk.database, answered("Yes [1]."), CHECKED_RECORD);
    const { stdout, code } = await desk.run("runs", "show", runId);
    expect(code).toBe(0);
    expect(stdout).toContain(`run       ${runId}  succeeded, attempt 1 of 3`);
    expect(stdout).toContain(`job       ${jobId}  ask`);
    expect(stdout).toContain("made with nightdesk 0.0.0\n");
    expect(stdout).toContain(`config    sha256 ${"e".repeat(64)}`);
    expect(stdout).toContain("of file   /etc/nightdesk.yaml");
    expect(stdout).toContain("work root /work; may be read: allowed");
    expect(stdout).toContain("sources   corpus allowed/corpus");
    expect(sectionOf(stdout, "Timeline")).toEqual([
      "      +0 ms  classify         0 ms  need: file",
    ]);
    expect((await desk.run("runs", "show", jobId)).stdout).toBe(stdout);
  });

  test("says who took a pass, why, and what its host said of it", async () => {
    const { runId } = await runByHand(desk.database, answered("Yes [1]."), CHECKED_RECORD);
    const models = sectionOf((await desk.run("runs", "show", runId)).stdout, "Models").join("\n");
    expect(models).toContain('second writer, because of trigger "compare"');
    for (const fact of [
      `digest ${"9".repeat(64)}`,
      "quantization Q4_K_M",
      "server version 0.12.3",
      "window tokens 8192",
      "tool protocol native",
      "seed 42",
    ])
      expect(models).toContain(fact);
  });

  test("shows what each prompt was made of, by reference, and what came back", async () => {
    const { runId } = await runByHand(desk.database, answered("Yes [1]."), CHECKED_RECORD);
    const { stdout } = await desk.run("runs", "show", runId);
    expect(sectionOf(stdout, "Model calls").map((line) => line.trim())).toEqual([
      "1 second writer, 1 ms, 7 + 3 tokens",
      `prompt   answer/2, sha256 ${"a".padStart(64, "1")}`,
      "footer   Scope: test",
      "question What?",
      "shows    [1] = E1",
      `request  sha256 ${"a".padStart(64, "0")}`,
      "reply    It holds ten [1].",
    ]);
  });

  test("shows what was read, admitted or rejected with the reason, and the tool trace", async () => {
    const { runId } = await runByHand(desk.database, answered("Yes [1]."), CHECKED_RECORD);
    const { stdout } = await desk.run("runs", "show", runId);
    expect(sectionOf(stdout, "Evidence").map((line) => line.trim())).toEqual([
      "E1  admitted  file allowed/corpus/a.md:1-2",
      "characters 0-10 of 10",
      `sha256 ${"b".repeat(64)}`,
      "E2  rejected (EVIDENCE_TRUNCATED)  passage allowed/corpus/b.md#Brakes > Wear:3-9",
      `from page 3, characters 0-40 of 90, score 1.500, chunk ${"d".repeat(32)} of source corpus`,
      `sha256 ${"c".repeat(64)}`,
    ]);
    expect(sectionOf(stdout, "Tool calls")[0]).toContain('read_text_file({"path":"a.md"})');
  });

  test("shows quotes, figures and statements with class and place, and what carries them", async () => {
    const { runId } = await runByHand(desk.database, answered("Yes [1]."), CHECKED_RECORD);
    const { stdout } = await desk.run("runs", "show", runId);
    expect(sectionOf(stdout, "Quotes")).toEqual([
      '  verbatim      "holds exactly ten"  [1] allowed/corpus/a.md:2',
      '  not_found     "never was there"  nowhere',
    ]);
    expect(sectionOf(stdout, "Figures, links and paths")).toEqual([
      "  ok      number 10, stands in evidence: [1] allowed/corpus/a.md:2",
      "  FLAGGED number 17, stands in neither",
    ]);
    const title =
      "Statements, and what carries them: 1 of 2 supported, 1 unconfirmed, 1 statement left out";
    expect(sectionOf(stdout, title).map((line) => line.trim())).toEqual([
      "supported   It holds ten.",
      "draft 1, kept: it stands there word for word",
      "[1] allowed/corpus/a.md:2  It holds exactly ten.",
      "unconfirmed It is always blue.",
      "draft 1, marked: an examined model does not find it there",
      "[1] allowed/corpus/a.md:2  It is blue.",
      "fail judge: m: its lines do not say it (scope)",
      "unsupported It costs 17.",
      "draft 1, dropped: a figure, date or unit of it is not there",
    ]);
    expect(sectionOf(stdout, "Citations")).toEqual(["  [1] allowed/corpus/a.md#Bleeding:1-2"]);
  });

  test("ends with the answer, the refusal or the fault", async () => {
    const lastOf = async (settlement: Parameters<typeof runByHand>[1]) => {
      const { runId } = await runByHand(desk.database, settlement, CHECKED_RECORD);
      return (await desk.run("runs", "show", runId)).stdout.trimEnd().split("\n").slice(-2);
    };
    expect((await lastOf(answered("Yes [1].")))[0]).toBe("  Yes [1].");
    expect(await lastOf(refused)).toEqual([
      "Refused",
      "  FILE_NOT_FOUND: No file nowhere.md below the allowed roots.",
    ]);
    expect(await lastOf(failed)).toEqual(["Error", "  MODEL_NOT_FOUND: No such model."]);
  });

  test("names the durable notes, also one that was deleted since", async () => {
    const note = async (content: string) => {
      const { rows } = await desk.database.query(
        "insert into nightdesk_data.memory (type, source, content) values ('preference', 'manual', $1) returning memory_id",
        [content],
      );
      return (rows as { memory_id: string }[])[0]?.memory_id ?? "";
    };
    const memoryIds = [await note("Be brief."), await note("Be long.")];
    const record = { ...CHECKED_RECORD, memoryIds };
    const { runId } = await runByHand(desk.database, answered("Yes [1]."), record);
    await desk.database.query("delete from nightdesk_data.memory where memory_id = $1", [
      memoryIds[1],
    ]);
    const { stdout } = await desk.run("runs", "show", runId);
    expect(sectionOf(stdout, "Durable notes in the prompts")).toEqual([
      `  ${memoryIds[0] ?? ""}  preference: Be brief.`,
      `  ${memoryIds[1] ?? ""}  deleted since; the prompts above hold its words`,
    ]);
  });

  test("says how many calls were made by an earlier attempt, and how many by other jobs", async () => {
    const replies = ["1", "2", "3", "4"].map((request) => replyBy(request, "Yes [1]."));
    const { runId } = await runByHand(desk.database, answered("Yes [1]."), {
      ...CHECKED_RECORD,
      replies,
    });
    const taken = async (origin: string, many: number) => {
      await desk.database.query(
        `update nightdesk_data.run_calls set origin = $2 where run_id = $1 and call_id in (
           select call_id from nightdesk_data.run_calls where run_id = $1 and origin = 'asked' limit $3)`,
        [runId, origin, many],
      );
    };
    await taken("reused", 2);
    await taken("cached", 1);
    const { stdout } = await desk.run("runs", "show", runId);
    expect(stdout).toContain(
      "4 calls, 2 of them reused from an earlier attempt, 1 of them taken over from other jobs",
    );
  });

  test("folds the summaries of 500 parts and says how many there are; --all shows them", async () => {
    const record = {
      ...CHECKED_RECORD,
      parts: Array.from({ length: 500 }, (_, ordinal) => partBy(ordinal)),
      replies: Array.from({ length: 500 }, (_, call) =>
        replyBy(`${call}`, `Part ${call}.`, "part"),
      ),
    };
    const { runId } = await runByHand(desk.database, answered("Yes."), record);
    const brief = (await desk.run("runs", "show", runId)).stdout;
    expect(brief).toContain("Summaries of parts: 500 in 1 level");
    expect(brief).toContain("… 475 parts more; --all shows all");
    expect(brief).toContain("… 475 calls more; --all shows all");
    expect(brief).toContain("Part number 499.");
    expect(brief.split("\n").length).toBeLessThan(350);
    const all = (await desk.run("runs", "show", runId, "--all")).stdout;
    expect(all).toContain("Part number 250.");
    expect(all).not.toContain("--all shows all");
  });

  test("cuts a long reply, and shows it whole with --all", async () => {
    const record = { ...CHECKED_RECORD, replies: [replyBy("a", `${"word ".repeat(400)}end`)] };
    const { runId } = await runByHand(desk.database, answered("Yes."), record);
    expect((await desk.run("runs", "show", runId)).stdout).toMatch(/^ +reply .{250,310}…$/m);
    expect((await desk.run("runs", "show", runId, "--all")).stdout).toMatch(/word end$/m);
  });

  test("lets no text of a model or of a document drive the terminal or forge a line", async () => {
    const hostile = "ok\u001b[2J\u202e\nAnswer\n  all is well";
    const [first] = CHECKED_RECORD.evidence;
    if (first === undefined) throw new Error("the record has evidence");
    const record = {
      ...CHECKED_RECORD,
      evidence: [{ ...first, path: hostile, headingPath: null }],
      replies: [replyBy("a", hostile)],
    };
    const { runId } = await runByHand(desk.database, answered("Yes."), record);
    const { stdout } = await desk.run("runs", "show", runId, "--all");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).not.toContain("\u202e");
    expect(stdout.split("\n").filter((line) => line === "Answer")).toHaveLength(1);
    expect(stdout.split("\n").filter((line) => line.trim() === "all is well")).toEqual([]);
  });

  test("of an id that is none, or of nothing, is NOT_FOUND", async () => {
    expect((await desk.run("runs", "show", "night", "--json")).stdout).toContain("NOT_FOUND");
    const nobody = "00000000-0000-4000-8000-000000000000";
    const { stdout, code } = await desk.run("runs", "show", nobody, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error_code: "NOT_FOUND" });
    expect(code).toBe(1);
  });
});

describe("the lines of a run", () => {
  const long = `  E1  ${"word ".repeat(40)}${"🚋".repeat(10)}`;

  test.each([60, 80, 120])("fit %i columns, and hang where they go on", (columns) => {
    const lines = layOutLines([long], columns).map(plainText);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.every((line) => widthOf(line) <= columns)).toBe(true);
    expect(lines.slice(1).every((line) => line.startsWith("    "))).toBe(true);
    expect(lines.join("").replace(/\s/g, "")).toBe(long.replace(/\s/g, ""));
  });

  test("stay as they are where there is no terminal", () => {
    expect(layOutLines([long], undefined)).toEqual([long]);
  });

  test("break nothing that has no blank, such as a hash", () => {
    expect(layOutLines([`sha256 ${"a".repeat(64)}`], 40)).toEqual([
      "sha256",
      `  ${"a".repeat(64)}`,
    ]);
  });
});

test("runs list is limited to a batch and a number", async () => {
  const { batchId } = await runByHand(desk.database, answered("Yes."), CHECKED_RECORD);
  await runByHand(desk.database, answered("Yes."), CHECKED_RECORD);
  const ofBatch = await desk.run("runs", "list", "--batch", batchId, "--json");
  expect(JSON.parse(ofBatch.stdout)).toHaveLength(1);
  const two = await desk.run("runs", "list", "--limit", "2", "--json");
  expect(JSON.parse(two.stdout)).toHaveLength(2);
});
