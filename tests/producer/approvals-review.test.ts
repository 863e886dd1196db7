import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { ApprovalRequest } from "../../src/shared/store/investigations/approvals.ts";
import { askAbout, investigationsOf } from "../support/waiting-investigations.ts";
import { openDesk, pretendWorker, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { openOnTerminal, runOnTerminal } from "./on-a-terminal.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterEach(async () => {
  await desk.database.query("delete from nightdesk_data.batches");
  await desk.database.query("delete from nightdesk_data.decisions");
});
afterAll(() => desk.dispose());

const UP = "\u001b[A";
const DOWN = "\u001b[B";
const RETURN = "\r";
const ESCAPE = "\u001b";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const RED = "\u001b[31m";

let calls = 0;
/** Runs of one batch that wait for a call. */
async function waiting(jobs: number, more: Partial<ApprovalRequest> = {}): Promise<void> {
  const fingerprint = (calls += 1).toString(16).padStart(64, "0");
  const { jobIds } = await investigationsOf(desk.database, `night-${calls}`, jobs);
  for (const jobId of jobIds) await askAbout(desk.database, jobId, { fingerprint, ...more });
}
const review = () => openOnTerminal("approvals review", { cwd: desk.workroot, columns: 100 });

type Row = Readonly<Record<string, unknown>>;
const requests = (): Promise<Row[]> =>
  rowsOf(
    desk.database,
    "select state, scope, reason from nightdesk.approvals order by requested_at",
  );
const decisions = (): Promise<Row[]> =>
  rowsOf(desk.database, "select verdict, scope, reason, hits from nightdesk_data.decisions");

describe("a decision on a terminal", () => {
  test("is made with the arrow keys and Return", async () => {
    await waiting(2);
    const terminal = review();
    await terminal.shows("> s  leave it for later");
    for (let at = 0; at < 5; at += 1) terminal.type(UP);
    await terminal.shows("> 1  allow it once: for the 2 runs that wait");
    terminal.type(RETURN);
    const { screen, code } = await terminal.left;
    expect(code).toBe(0);
    expect(screen).toContain("shell: Approved: 2 runs go on.");
    expect(screen).toContain("1 call decided; nothing else waits.");
    expect(await decisions()).toMatchObject([{ verdict: "approve", scope: "once", hits: 2 }]);
  });

  test.each([
    ["1", "once"],
    ["2", "job"],
    ["3", "batch"],
    ["r", "rule"],
  ])("is made at once by the key %s: %s", async (key, scope) => {
    await waiting(1);
    const terminal = review();
    await terminal.shows("leave it for later");
    terminal.type(key);
    expect(await terminal.left).toMatchObject({ code: 0 });
    expect(await requests()).toMatchObject([{ state: "approved", scope }]);
  });

  test("to deny asks for a reason, which has to be given", async () => {
    await waiting(1);
    const terminal = review();
    await terminal.shows("leave it for later");
    terminal.type("4");
    await terminal.shows("Why not?");
    terminal.type(RETURN);
    await terminal.shows("Say why: the model is told.");
    terminal.type("Read notes/log.md.");
    await terminal.shows("Read notes/log.md.");
    terminal.type(RETURN);
    expect(await terminal.left).toMatchObject({ code: 0 });
    expect(await requests()).toMatchObject([{ state: "denied", reason: "Read notes/log.md." }]);
  });

  test("on one call after the other warns of nothing of its own", async () => {
    const many = 12;
    for (let at = 0; at < many; at += 1) await waiting(1);
    const terminal = review();
    for (let at = 0; at < many; at += 1) {
      await terminal.shows("leave it for later");
      terminal.type("s");
    }
    const { screen } = await terminal.left;
    expect(screen).toContain("Nothing was decided; 12 calls still wait");
    expect(screen).not.toContain("Warning");
  });

  test("goes from call to call, and leaves what is left for later", async () => {
    await waiting(2, { preview: "first" });
    await waiting(1, { preview: "second" });
    const terminal = review();
    await terminal.shows("One of 2 calls that wait");
    await terminal.shows("leave it for later");
    terminal.type(RETURN);
    await terminal.shows("The last call that waits");
    await terminal.shows("leave it for later");
    terminal.type("1");
    const { screen } = await terminal.left;
    expect(screen).toContain("1 call decided; 1 call still waits: nightdesk approvals list");
    expect(await requests()).toMatchObject([
      { state: "waiting" },
      { state: "waiting" },
      { state: "approved" },
    ]);
  });

  test("that somebody else made meanwhile is told, and nothing is changed", async () => {
    await waiting(1);
    const terminal = review();
    await terminal.shows("leave it for later");
    const [row] = await rowsOf(desk.database, "select approval_id from nightdesk.approvals");
    await desk.run("approvals", "approve", String(row?.["approval_id"]));
    terminal.type("4");
    await terminal.shows("Why not?");
    terminal.type(`no${RETURN}`);
    expect((await terminal.left).screen).toContain("It was approved before, by ");
    expect(await requests()).toMatchObject([{ state: "approved" }]);
  });
});

test("a call that leaves the root is warned of in red, and its words are shown as text", async () => {
  await waiting(1, { risks: ["out_of_root", "deletes"], preview: "rm -r ../old\u001b[2J\u202e" });
  const terminal = review();
  await terminal.shows(`${RED}WARNING: it leaves the root, deletes.`);
  await terminal.shows("leave it for later");
  expect(terminal.screen).not.toContain("\u001b[2J");
  expect(terminal.screen).not.toContain("\u202e");
  terminal.type(ESCAPE);
  expect(await terminal.left).toMatchObject({ code: 0 });
});

test("a call of many lines is shown to its last", async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `echo ${at} >> all.txt`);
  await waiting(1, { preview: lines.join("\n") });
  const terminal = review();
  await terminal.shows("leave it for later");
  for (const line of lines) expect(terminal.screen).toContain(line);
  terminal.type(ESCAPE);
  await terminal.left;
});

describe("nothing is decided", () => {
  test.each([
    ["Ctrl-C", [CTRL_C]],
    ["Ctrl-D", [CTRL_D]],
    ["Escape", [ESCAPE]],
    ["Ctrl-C on another line", [UP, UP, DOWN, CTRL_C]],
    ["other keys, then Escape", ["y", "0", "9", " ", ESCAPE]],
    ["Return alone", [RETURN]],
  ])("by %s", async (_, keys) => {
    await waiting(1);
    const terminal = review();
    await terminal.shows("leave it for later");
    for (const key of keys) terminal.type(key);
    const { screen, code } = await terminal.left;
    expect(code).toBe(0);
    expect(screen).toContain("Nothing was decided; 1 call still waits");
    expect(await requests()).toMatchObject([{ state: "waiting" }]);
    expect(await decisions()).toEqual([]);
  });

  test.each([
    ["Ctrl-C", CTRL_C],
    ["Escape", ESCAPE],
  ])("by %s where a reason was begun", async (_, key) => {
    await waiting(1);
    const terminal = review();
    await terminal.shows("leave it for later");
    terminal.type("4");
    await terminal.shows("Why not?");
    terminal.type("because");
    await terminal.shows("because");
    terminal.type(key);
    expect((await terminal.left).screen).toContain("Nothing was decided");
    expect(await requests()).toMatchObject([{ state: "waiting" }]);
  });

  test("by what is piped in, on a terminal or not", async () => {
    await waiting(1);
    const place = { cwd: desk.workroot, columns: 100 };
    const piped = await openOnTerminal("approvals review", { ...place, before: "echo 2 |" }).left;
    const unseen = await openOnTerminal("approvals review | cat; exit 2", place).left;
    const neither = await desk.run("approvals", "review");
    for (const told of [piped.screen, unseen.screen, neither.stderr])
      expect(told).toContain("it needs a terminal for its input and its output");
    expect([piped.code, neither.code]).toEqual([2, 2]);
    expect(neither.stderr).toContain("nightdesk approvals approve ID");
    expect(await requests()).toMatchObject([{ state: "waiting" }]);
  });
});

test("where nothing waits it says so, and ends", async () => {
  const { screen, code } = await runOnTerminal("approvals review", {
    cwd: desk.workroot,
    columns: 100,
  });
  expect({ screen, code }).toEqual({
    screen: "Nothing was decided; nothing else waits.\r\n",
    code: 0,
  });
});
