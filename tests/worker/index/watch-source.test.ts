import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { customIdOf, selectWatches } from "../../../src/shared/store/index/watched-files.ts";
import { watchMemory } from "../../../src/worker/index/watch-source.ts";
import { answered, workByHand } from "../../producer/work-by-hand.ts";
import { describeOnPostgres } from "../../support/test-databases.ts";
import { watchedFolder } from "../../support/watched-folder.ts";

const EXTENSIONS = [".md", ".txt", ".csv"];

describeOnPostgres("a watched folder", () => {
  const desk = watchedFolder(EXTENSIONS);
  const { write, rest, look, rows, jobs } = desk;
  const SUMMARIZE = { job: { kind: "summarize" as const } };

  test("a file is taken when it is at rest, once, and again by what it holds", async () => {
    write("in/a.md", "Words.");
    const memory = watchMemory();
    expect(await look({ rules: [SUMMARIZE] }, memory)).toMatchObject({ taken: 0, restless: 1 });
    await rest();
    expect(await look({ rules: [SUMMARIZE] }, memory)).toMatchObject({ taken: 1, restless: 0 });
    expect(await jobs()).toEqual([
      { kind: "index", options: { source: "inbox", allow_partial: true } },
      { kind: "summarize", path: "in/a.md" },
    ]);
    // The same words under another name, a restart, and a touch: nothing new.
    write("in/copy.md", "Words.");
    write("in/a.md", "Words.");
    await rest();
    expect(await look({ rules: [SUMMARIZE] }, memory)).toMatchObject({ taken: 0 });
    expect(await look({ rules: [SUMMARIZE] })).toMatchObject({ taken: 0 });
    write("in/a.md", "Other words.");
    await rest();
    expect(await look({ rules: [SUMMARIZE] }, memory)).toMatchObject({ taken: 1 });
    expect((await jobs()).filter(({ kind }) => kind === "summarize")).toHaveLength(2);
  });

  test("a look that fails before it has taken its files takes them the next time", async () => {
    write("in/a.md", "Words.");
    await rest();
    const memory = watchMemory();
    await desk.db.query("alter table nightdesk_data.watched_files rename to gone");
    await expect(look({ rules: [SUMMARIZE] }, memory)).rejects.toThrow("watched_files");
    await desk.db.query("alter table nightdesk_data.gone rename to watched_files");
    expect(await look({ rules: [SUMMARIZE] }, memory)).toMatchObject({ taken: 1 });
  });

  test("a file that grows between two looks is left alone", async () => {
    const memory = watchMemory();
    for (let part = 0; part < 4; part += 1) {
      write("in/a.md", "Words.".repeat(part + 1));
      expect(await look({}, memory)).toMatchObject({ taken: 0, restless: 1 });
      await setTimeout(400);
    }
  });

  test("of workers that look at once, one takes a file", async () => {
    for (let at = 0; at < 20; at += 1) write(`in/${at}.md`, `Words ${at}.`);
    await rest();
    const looks = await Promise.all(Array.from({ length: 6 }, () => look({ rules: [SUMMARIZE] })));
    expect(looks.reduce((sum, { taken }) => sum + taken, 0)).toBe(20);
    expect((await jobs()).filter(({ kind }) => kind === "summarize")).toHaveLength(20);
  });

  test("a file that comes after the batch of the day was cancelled is queued in another one", async () => {
    await rows(
      "insert into nightdesk_data.batches (name, state, finished_at) select 'inbox ' || (now() at time zone 'utc')::date, 'cancelled', now()",
    );
    write("in/a.md", "Words.");
    await rest();
    expect(await look({ rules: [SUMMARIZE] })).toMatchObject({ taken: 1 });
    expect(
      await rows("select state, right(name, 2) as end from nightdesk_data.batches order by name"),
    ).toEqual([
      { state: "cancelled", end: expect.not.stringContaining(" ") },
      { state: "open", end: " 2" },
    ]);
  });

  test("the custom id of a long path is cut between two characters", () => {
    const id = customIdOf({ path: `${"x".repeat(479)}🦊.md`, sha256: "0".repeat(64) });
    expect(id.isWellFormed()).toBe(true);
  });

  test("the first rule that fits decides, by path, format or tag; without one a file is indexed", async () => {
    write("in/bills/a.txt", "Bill.");
    write("in/b.md", "---\ntags: [Invoice, old]\n---\nBill.");
    write("in/c.csv", "item,price\npipe,3\n");
    write("in/d.txt", "Nothing.");
    await rest();
    const classify = { kind: "extract" as const, preset: "classify", labels: ["bill", "other"] };
    await look({
      rules: [
        { match: "bills/**", job: classify },
        { tags: ["#invoice"], job: { kind: "summarize", options: { length: "sentence" } } },
        { formats: ["csv"], ...SUMMARIZE },
      ],
    });
    const made = (await jobs()).filter(({ kind }) => kind !== "index");
    expect(
      made.sort((one, other) => String(one["path"]).localeCompare(String(other["path"]))),
    ).toEqual([
      { kind: "summarize", path: "in/b.md", options: { length: "sentence" } },
      { ...classify, path: "in/bills/a.txt" },
      { kind: "summarize", path: "in/c.csv" },
    ]);
    expect(await rows("select path from nightdesk.watched_files where job_id is null")).toEqual([
      { path: "in/d.txt" },
    ]);
  });

  test("the path of a file is a field of its job, and no word of a question or a task", async () => {
    write('in/offer" and "vault.txt', "The offer holds until 3 June.");
    write("in/log.csv", "host,state\nnas,failed\n");
    await rest();
    await look({
      rules: [
        { formats: ["csv"], job: { kind: "investigate", task: "Which hosts failed?" } },
        { job: { kind: "ask", question: "Until when does it hold?", options: { full: true } } },
      ],
    });
    const made = (await jobs()).filter(({ kind }) => kind !== "index");
    expect(made).toHaveLength(2);
    expect(made).toEqual(
      expect.arrayContaining([
        { kind: "investigate", task: "Which hosts failed?", path: "in/log.csv" },
        {
          kind: "ask",
          question: "Until when does it hold?",
          path: 'in/offer" and "vault.txt',
          options: { full: true },
        },
      ]),
    );
  });

  const MOVED = { rules: [{ ...SUMMARIZE, move_to: "done" }] };
  const finish = () => workByHand(desk.db, 2, () => answered("Fine."));
  const moved = () =>
    rows("select path, moved_to, move_problem from nightdesk.watched_files order by path");

  test("a file is moved once its job has succeeded, and over no other", async () => {
    write("in/sub/a.md", "Words.");
    write("done/a.md", "Of somebody else.");
    await rest();
    expect((await look(MOVED)).moves).toEqual([]);
    expect(existsSync(join(desk.workroot, "in/sub/a.md"))).toBe(true);
    await finish();
    const [move] = (await look(MOVED)).moves;
    expect(move).toEqual({
      kind: "moved",
      path: expect.stringMatching(/^done\/a\.[0-9a-f]{8}\.md$/),
    });
    expect(readFileSync(join(desk.workroot, "done/a.md"), "utf8")).toBe("Of somebody else.");
    expect(readFileSync(join(desk.workroot, move?.kind === "moved" ? move.path : ""), "utf8")).toBe(
      "Words.",
    );
    expect(existsSync(join(desk.workroot, "in/sub/a.md"))).toBe(false);
    expect((await look(MOVED)).moves).toEqual([]);
  });

  test("a file is moved when its source was indexed with it, and then the sources are indexed again", async () => {
    write("in/a.md", "Words.");
    await rest();
    await look(MOVED);
    await desk.db.query("update nightdesk_data.jobs set due_at = 'infinity' where kind = 'index'");
    await workByHand(desk.db, 1, () => answered("Fine."));
    expect((await look(MOVED)).moves).toEqual([]);
    expect(existsSync(join(desk.workroot, "in/a.md"))).toBe(true);
    await desk.db.query("update nightdesk_data.jobs set due_at = now() where kind = 'index'");
    await workByHand(desk.db, 1, () => answered("Fine."));
    expect((await look(MOVED)).moves).toEqual([{ kind: "moved", path: "done/a.md" }]);
    expect((await jobs()).at(-1)).toEqual({ kind: "index", options: { allow_partial: true } });
    await look(MOVED);
    expect(await jobs()).toHaveLength(3);
  });

  test("a file that changed since stays, with the reason", async () => {
    write("in/a.md", "Words.");
    await rest();
    await look(MOVED);
    await finish();
    write("in/a.md", "Other words.");
    await look(MOVED);
    expect(await moved()).toEqual([
      { path: "in/a.md", moved_to: null, move_problem: "it changed after it was taken" },
    ]);
    expect(readFileSync(join(desk.workroot, "in/a.md"), "utf8")).toBe("Other words.");
  });

  test.each([
    ["of the work root", () => join(desk.workroot, "elsewhere-")],
    ["outside", () => join(tmpdir(), "nightdesk-elsewhere-")],
  ])("a link leads no move to another folder %s", async (_, prefix) => {
    const elsewhere = mkdtempSync(prefix());
    write("in/a.md", "Words.");
    await rest();
    await look(MOVED);
    await finish();
    symlinkSync(elsewhere, join(desk.workroot, "done"));
    await look(MOVED);
    expect(await moved()).toMatchObject([{ move_problem: "a link stands in done" }]);
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });

  test("links lead no move out of the source", async () => {
    const outside = mkdtempSync(join(tmpdir(), "nightdesk-outside-"));
    write("in/sub/a.md", "Words.");
    await rest();
    await look(MOVED);
    await finish();
    // The same file by way of another folder: a rename keeps inode and times.
    renameSync(join(desk.workroot, "in/sub/a.md"), join(outside, "a.md"));
    rmSync(join(desk.workroot, "in/sub"), { recursive: true });
    symlinkSync(outside, join(desk.workroot, "in/sub"));
    await look(MOVED);
    expect(await moved()).toMatchObject([{ move_problem: "a link leads out of its source" }]);
    expect(existsSync(join(outside, "a.md"))).toBe(true);
    rmSync(outside, { recursive: true });
  });

  test("a move that was cut short between its two names is ended by the next look", async () => {
    write("in/a.md", "Words.");
    await rest();
    await look(MOVED);
    await finish();
    mkdirSync(join(desk.workroot, "done"));
    linkSync(join(desk.workroot, "in/a.md"), join(desk.workroot, "done/a.md"));
    expect((await look(MOVED)).moves).toEqual([{ kind: "moved", path: "done/a.md" }]);
    expect(existsSync(join(desk.workroot, "in/a.md"))).toBe(false);
  });

  test("a file that already lies where its rule moves it stays there", async () => {
    write("in/done/a.md", "Words.");
    const rules = { rules: [{ ...SUMMARIZE, move_to: "in/done" }] };
    await rest();
    await look(rules);
    await finish();
    expect((await look(rules)).moves).toEqual([{ kind: "moved", path: "in/done/a.md" }]);
    expect(readFileSync(join(desk.workroot, "in/done/a.md"), "utf8")).toBe("Words.");
  });

  test("what can't be read, and a folder that is gone, end no look", async () => {
    write("in/big.md", "x".repeat(30_000));
    write("in/ok.md", "Words.");
    symlinkSync("/etc/passwd", join(desk.workroot, "in/link.md"));
    await rest();
    expect(await look({ rules: [SUMMARIZE] })).toMatchObject({ taken: 1, problem: null });
    rmSync(join(desk.workroot, "in"), { recursive: true });
    await look();
    expect(await selectWatches(desk.db)).toMatchObject([
      { source: "inbox", problem: "there is no folder in" },
    ]);
  });
});
