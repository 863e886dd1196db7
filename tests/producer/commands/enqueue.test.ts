import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { selectBatch } from "../../../src/shared/enqueue/select-batch.ts";
import type { SelectedBatch } from "../../../src/shared/enqueue/select-batch.ts";
import { enqueueLines } from "../../../src/shared/enqueue/enqueue-lines.ts";
import { nativeLines } from "../../../src/shared/enqueue/parse-line.ts";
import { eventually, signal } from "../../conformance/signal.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

const ask = (customId: string, question = `What about ${customId}?`) =>
  JSON.stringify({ custom_id: customId, kind: "ask", question });

async function enqueue(name: string, text: string | Uint8Array, ...flags: readonly string[]) {
  const file = await desk.write(`${name}.jsonl`, text);
  return desk.run("enqueue", file, "--batch-name", name, "--json", ...flags);
}

const jobsOf = (name: string) =>
  rowsOf(
    desk.database,
    `select j.custom_id, j.state, j.priority, j.due_at = 'infinity' as held_back, b.state as batch_state
       from nightdesk_data.batches b left join nightdesk_data.jobs j using (batch_id)
      where b.name = $1 order by j.seq`,
    [name],
  );

const load = (batch: SelectedBatch, chunks: AsyncIterable<Uint8Array>) =>
  enqueueLines(desk.database, batch, chunks, {
    badLines: "strict",
    onLines: () => undefined,
    parser: nativeLines(() => ""),
  });

describe("a good file", () => {
  test("becomes the jobs of an open batch, in the order of its lines", async () => {
    const text = [
      "\uFEFF" + ask("first"),
      "",
      `{"kind":"embed","text":["a","b"],"priority":-5}\r`,
      `{"kind":"chat","prompt":"hello","custom_id":"\u00fc"}`,
    ].join("\n");
    const { code, stdout } = await enqueue("good", text);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      batch: "good",
      added: 3,
      skipped: 0,
      rejected: 0,
    });
    expect(code).toBe(0);
    expect(await jobsOf("good")).toEqual([
      { custom_id: "first", state: "queued", priority: 0, held_back: false, batch_state: "open" },
      { custom_id: "line-3", state: "queued", priority: -5, held_back: false, batch_state: "open" },
      { custom_id: "ü", state: "queued", priority: 0, held_back: false, batch_state: "open" },
    ]);
  });

  test("enqueued again is nothing new", async () => {
    const { code, stdout } = await enqueue("good", `${ask("first")}\n`);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, added: 0, skipped: 1 });
    expect(code).toBe(0);
  });

  test("says the same for an input whose keys stand in another order", async () => {
    await enqueue(
      "order",
      `{"custom_id":"a","kind":"ask","question":"x","options":{"full":true,"route":"big"}}`,
    );
    const again = await enqueue(
      "order",
      `{"options":{"route":"big","full":true},"question":"x","kind":"ask","custom_id":"a"}`,
    );
    expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, skipped: 1 });
  });
});

describe("a bad line", () => {
  const cases: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ["is not JSON", "{nope}", /is not valid JSON/],
    ["begins with words about a position", "at position 7", /is not valid JSON$/],
    ["is a list", "[]", /is not a JSON object/],
    ["has no kind", `{"question":"x"}`, /kind must be one of ask, summarize/],
    ["holds an unknown key", `{"kind":"ask","question":"x","colour":1}`, /colour/],
    ["holds a blank question", `{"kind":"ask","question":"  "}`, /question: must not be blank/],
    ["holds a NUL", `{"kind":"ask","question":"a\\u0000b"}`, /NUL/],
    ["holds half of a surrogate pair", `{"kind":"ask","question":"\\ud800"}`, /surrogate/],
    ["is not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), /is not UTF-8/],
    [
      "names itself by a number",
      `{"custom_id":7,"kind":"ask","question":"x"}`,
      /custom_id must be a text/,
    ],
    [
      "has an empty custom_id",
      `{"custom_id":"","kind":"ask","question":"x"}`,
      /custom_id must be a text/,
    ],
    ["has a custom_id of 513 characters", ask("x".repeat(513)), /custom_id must be a text/],
    ["has a priority of 101", `{"kind":"ask","question":"x","priority":101}`, /priority must be/],
    ["has a priority of 1.5", `{"kind":"ask","question":"x","priority":1.5}`, /priority must be/],
    [
      "holds a number beyond a double",
      `{"kind":"chat","prompt":"x","response_format":{"n":1e999}}`,
      /too large/,
    ],
    [
      "holds __proto__",
      `{"kind":"chat","prompt":"x","response_format":{"__proto__":{}}}`,
      /__proto__/,
    ],
    [
      "is nested 100,000 deep",
      `{"kind":"ask","question":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      /deeper than 64/,
    ],
    [
      "is longer than 8 MiB",
      `{"kind":"ask","question":"${"x".repeat(8 * 1024 * 1024)}"}`,
      /longer than 8 MiB/,
    ],
  ];

  test.each(cases)("that %s rejects the file, by number and reason", async (name, line, reason) => {
    const good = Buffer.from(`${ask("good")}\n`);
    const { code, stdout } = await enqueue(
      `bad ${name.slice(0, 20)}`,
      Buffer.concat([good, Buffer.from(line)]),
    );
    const failure = JSON.parse(stdout) as { problems: { line: number; reason: string }[] };
    expect(failure).toMatchObject({ ok: false, error_code: "INPUT_INVALID", rejected: 1 });
    expect(failure.problems).toEqual([{ line: 2, reason: expect.stringMatching(reason) }]);
    expect(code).toBe(1);
    expect(await jobsOf(`bad ${name.slice(0, 20)}`)).toEqual([]);
  });

  test("is left out with --no-strict, and the good lines are queued", async () => {
    const { code, stdout } = await enqueue("lax", `{}\n${ask("good")}\n`, "--no-strict");
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, added: 1, rejected: 1 });
    expect(code).toBe(3);
    expect(await jobsOf("lax")).toMatchObject([{ custom_id: "good", batch_state: "open" }]);
  });

  test("never has its text in a message", async () => {
    const { stdout } = await enqueue("secret", `{"kind":"ask","question":"hunter2"`);
    expect(stdout).not.toContain("hunter2");
  });

  test("is one of the first hundred that are reported, and the rest are counted", async () => {
    const file = await desk.write("many.jsonl", "{}\n".repeat(150));
    const { code, stderr } = await desk.run("enqueue", file);
    expect(stderr).toContain("line 100: kind must be");
    expect(stderr).not.toContain("line 101:");
    expect(stderr).toContain("and 50 more");
    expect(code).toBe(1);
  });
});

describe("a custom_id", () => {
  test("that comes twice in a file is reported with both lines, also with the same input", async () => {
    const { stdout } = await enqueue("twice", `${ask("a")}\n${ask("b")}\n${ask("a")}\n`);
    expect(JSON.parse(stdout)).toMatchObject({
      problems: [{ line: 3, reason: 'custom_id "a" is that of line 1 already' }],
    });
    expect(await jobsOf("twice")).toEqual([]);
  });

  test("that comes again in a later portion is reported too", async () => {
    const lines = Array.from({ length: 4_500 }, (_, index) => ask(`id-${index}`));
    const { stdout } = await enqueue("late", [...lines, ask("id-7")].join("\n"));
    expect(JSON.parse(stdout)).toMatchObject({
      problems: [{ line: 4_501, reason: 'custom_id "id-7" is that of line 8 already' }],
    });
  });

  test("that the batch holds with another input is refused, and the batch keeps what it had", async () => {
    await enqueue("kept", ask("a"));
    const { code, stdout } = await enqueue("kept", `${ask("new")}\n${ask("a", "Something else?")}`);
    expect(JSON.parse(stdout)).toMatchObject({
      problems: [{ line: 2, reason: expect.stringContaining("another input") }],
    });
    expect(code).toBe(1);
    expect(await jobsOf("kept")).toMatchObject([
      { custom_id: "a", state: "queued", batch_state: "open" },
    ]);
  });
});

describe("a batch", () => {
  test("that a load was interrupted in goes on with the same file", async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `${ask(`id-${index}`)}\n`);
    const batch = await selectBatch(desk.database, "resumed", "x");
    const broken = load(batch, breakAfter(lines, 4_100));
    await expect(broken).rejects.toThrow("the reader was killed");
    expect((await jobsOf("resumed"))[0]).toMatchObject({ batch_state: "loading" });
    const { stdout } = await enqueue("resumed", lines.join(""));
    const { added, skipped } = JSON.parse(stdout) as { added: number; skipped: number };
    expect({ total: added + skipped, resumed: skipped >= 2_000 }).toEqual({
      total: 5_000,
      resumed: true,
    });
    expect((await jobsOf("resumed"))[0]).toMatchObject({ batch_state: "open" });
  });

  test("that a load was cut off in says so when another file opens it, and what waits for it meanwhile", async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `${ask(`id-${index}`)}\n`);
    const batch = await selectBatch(desk.database, "cut off", "x");
    const broken = load(batch, breakAfter(lines, 4_100));
    await expect(broken).rejects.toThrow("the reader was killed");
    const waited = await desk.run("batch", "wait", "cut off", "--no-hold");
    expect(waited.code).toBe(75);
    expect(waited.stderr).toContain('Batch "cut off" is loading;');
    expect(waited.stderr).toContain("was cut off, run the same command again");
    const { stderr } = await enqueue("cut off", `${ask("other")}\n`);
    expect(stderr).toMatch(/^[24],000 jobs of a load that was cut off, and not in this file, are/m);
    expect(stderr).toContain('nightdesk batch cancel "cut off"');
  });

  test("that is open takes new jobs, which wait for the last line of their file", async () => {
    await enqueue("grown", ask("a"));
    const batch = await selectBatch(desk.database, "grown", "x");
    const broken = load(batch, breakAfter([`${ask("b")}\n`, ...fill(2_100)], 2_050));
    await expect(broken).rejects.toThrow("the reader was killed");
    const heldBack = (await jobsOf("grown")).filter(({ held_back: held }) => held === true);
    expect(heldBack.length).toBeGreaterThan(0);
    const shown = await desk.run("batch", "show", "grown");
    expect(shown.stdout).toContain("held back");
    const { stdout } = await enqueue("grown", [`${ask("b")}\n`, ...fill(2_100)].join(""));
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    expect((await jobsOf("grown")).every(({ held_back: held }) => held === false)).toBe(true);
  });

  test("has one load at a time: another waits for its end, and neither opens or removes jobs of the other", async () => {
    await enqueue("shared", ask("a"));
    const first = await selectBatch(desk.database, "shared", "x");
    const rest = signal();
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.from([`${ask("b")}\n`, ...fill(2_100)].join(""));
      await rest.promise;
      yield Buffer.from(`${ask("c")}\n`);
    }
    const loading = load(first, chunks());
    await eventually(
      "the first portion is stored",
      async () => (await jobsOf("shared")).length > 1,
    );
    const shown = await desk.run("batch", "show", "shared");
    expect(shown.stdout).toContain("held back: their file is still being read");
    const waited: string[] = [];
    const others = ["not JSON", ask("d"), ask("e")].map(async (text) => {
      const batch = await selectBatch(desk.database, "shared", "x", {
        onWait: (line) => waited.push(line),
      });
      return load(batch, Readable.from([Buffer.from(text)]));
    });
    await setTimeout(600);
    const waiting = await jobsOf("shared");
    expect(waiting.filter(({ held_back: held }) => held === true)).toHaveLength(2_000);
    rest.resolve();
    await expect(loading).resolves.toMatchObject({ outcome: "queued", added: 2_102 });
    const ended = await Promise.all(others);
    expect(ended.map(({ outcome }) => outcome)).toEqual(["rejected", "queued", "queued"]);
    expect(waited).toEqual(
      others.map(() => expect.stringContaining('is loading jobs into batch "shared"')),
    );
    const jobs = await jobsOf("shared");
    expect(jobs).toHaveLength(2_105);
    expect(jobs.every(({ held_back: held }) => held === false)).toBe(true);
  });

  test("is taken from a load that no longer renews its claim, which then fails", async () => {
    const lost = await selectBatch(desk.database, "taken", "x");
    await desk.database.query(
      "update nightdesk_data.batches set load_until = now() - interval '1 s' where name = 'taken'",
    );
    expect(JSON.parse((await enqueue("taken", ask("a"))).stdout)).toMatchObject({ added: 1 });
    await expect(load(lost, Readable.from([Buffer.from(ask("b"))]))).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(await jobsOf("taken")).toHaveLength(1);
  });

  test("that has completed takes the settings of new jobs, and drops a deadline that has passed", async () => {
    await enqueue("done", ask("a"), "--deadline", "1h");
    await desk.database.query(
      "update nightdesk_data.jobs set state = 'failed', error_code = 'MODEL_TIMEOUT', error_message = 'slow', finished_at = now() where custom_id = 'a'",
    );
    await desk.database.query(
      "update nightdesk_data.batches set state = 'completed', finished_at = now(), deadline_at = now() - interval '1 h' where name = 'done'",
    );
    await enqueue("done", ask("b"), "--priority", "7");
    const settings =
      "select state, priority, deadline_at from nightdesk_data.batches where name = $1";
    expect(await rowsOf(desk.database, settings, ["done"])).toEqual([
      { state: "open", priority: 7, deadline_at: null },
    ]);
  });

  test("that was cancelled takes no more jobs", async () => {
    await enqueue("over", ask("a"));
    await desk.run("batch", "cancel", "over");
    const { code, stdout } = await enqueue("over", ask("b"));
    expect(JSON.parse(stdout)).toMatchObject({
      error_code: "INPUT_INVALID",
      error_message: expect.stringContaining("cancelled"),
    });
    expect(code).toBe(1);
    const claim = "select load_id from nightdesk_data.batches where name = 'over'";
    expect(await rowsOf(desk.database, claim, [])).toEqual([{ load_id: null }]);
  });

  test("is not left behind by a file of blank lines", async () => {
    const { code, stdout } = await enqueue("blank", "\n \r\n\n");
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error_code: "INPUT_INVALID" });
    expect(code).toBe(1);
    expect(await jobsOf("blank")).toEqual([]);
  });

  test("is not made for a file that is not there", async () => {
    const { code, stderr } = await desk.run("enqueue", "nowhere.jsonl", "--batch-name", "nowhere");
    expect(stderr).toContain("INPUT_INVALID: nowhere.jsonl does not exist. Expected a JSONL file");
    expect(code).toBe(1);
    expect(await jobsOf("nowhere")).toEqual([]);
  });
});

const fill = (count: number) =>
  Array.from({ length: count }, (_, index) => `${ask(`more-${index}`)}\n`);

async function* breakAfter(texts: readonly string[], count: number): AsyncGenerator<Uint8Array> {
  for (const text of texts.slice(0, count)) yield Buffer.from(text);
  throw new Error("the reader was killed");
}
