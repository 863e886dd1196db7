import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openDesk, pretendWorker } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { openOnTerminal, runOnTerminal } from "./on-a-terminal.ts";
import { answered, workByHand } from "./work-by-hand.ts";

// script(1) is util-linux's; the one of macOS takes other words.
const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout.includes(
  "util-linux",
);
const onTerminal = hasScript ? describe : describe.skip;

const CLEAR = "\r\u001b[2K";

onTerminal("on a terminal of 80 columns", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
    await pretendWorker(desk.database);
  });
  afterAll(() => desk.dispose());

  const run = (words: string, columns = 80) =>
    runOnTerminal(words, { cwd: desk.workroot, columns });

  test("a batch is waited for under one line that is drawn over, and taken away at the end", async () => {
    const jobs = Array.from({ length: 60 }, (_, n) => `{"kind":"ask","question":"?${n}"}\n`);
    await desk.run("enqueue", await desk.write("n.jsonl", jobs.join("")), "--batch-name", "night");
    const place = { cwd: desk.workroot, columns: 80 };
    const waiting = openOnTerminal("batch wait night", place, "ignore");
    await waiting.shows("60 queued");
    await workByHand(desk.database, 60, () => answered("yes"));
    const { screen, code } = await waiting.left;
    const [before, ...drawn] = screen.split(CLEAR);
    const end = drawn.pop();
    expect({ before, end, code }).toEqual({
      before: "",
      end: 'Batch "night" has ended: \u001b[32m60 succeeded\u001b[39m.\r\n',
      code: 0,
    });
    expect(drawn[0]).toMatch(/^\[-{20}\] 0\/60 · 60 queued$/);
    for (const line of drawn) expect(line.length).toBeLessThan(80);
    expect(drawn.length).toBeGreaterThan(1);
    // Drawn again only where something has changed.
    expect(new Set(drawn).size).toBe(drawn.length);
  });

  test("rows that are too wide come as blocks of lines that fit", async () => {
    const { screen, code } = await run('sql "select * from results order by custom_id limit 2"');
    expect(code).toBe(0);
    const lines = screen.split("\r\n");
    expect(lines[0]).toBe("-- row 1 --");
    expect(lines.find((line) => line.startsWith("job_id"))).toMatch(/^job_id {13}[-0-9a-f]{36}$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("rows whose cells can give way stay a table", async () => {
    const { screen } = await run("sql \"select repeat('a', 70) as a, repeat('b', 20) as b\"");
    expect(screen.split("\r\n")[2]).toBe(`${"a".repeat(57)}…  ${"b".repeat(20)}`);
  });

  test("what a statement reads can't drive the terminal", async () => {
    for (const format of ["table", "json", "csv"]) {
      const { screen } = await run(
        `sql "select chr(27) || '[31m' as a, chr(155) || '2J' as b, chr(8238) as c" --format ${format}`,
      );
      expect(screen).not.toMatch(/[\u001b\u009b\u202e]/);
      // JSON has a spelling of its own for what is not shown.
      expect(screen).toContain(format === "json" ? "\\u009b2J" : "<U+009B>2J");
    }
  });

  test("--no-color draws nothing over", async () => {
    const { screen, code } = await run("batch wait night --no-color");
    expect({ screen, code }).toEqual({
      screen: 'Batch "night" has ended: 60 succeeded.\r\n',
      code: 0,
    });
  });
});
