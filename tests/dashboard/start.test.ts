import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeOnPostgres } from "../support/test-databases.ts";
import { rowsOf } from "../producer/desk.ts";
import { openRealDesk } from "./real-desk.ts";
import type { RealDesk } from "./real-desk.ts";

describeOnPostgres("work that is started from a page", () => {
  let desk: RealDesk;
  beforeAll(async () => {
    desk = await openRealDesk();
    await mkdir(join(desk.workroot, "allowed/corpus/notes"));
    for (const name of ["a.md", "b.md", "c.gz"]) {
      await desk.write(`allowed/corpus/notes/${name}`, `Text of ${name}.`);
    }
    await desk.write("secret.md", "not below a root");
  });
  afterAll(() => desk.dispose());

  const queued = () =>
    rowsOf(
      desk.database,
      "select batch, kind, input->>'path' as path, coalesce(input->>'question', '') as question from nightdesk.results order by 1, 3",
    );
  const files = { kind: "summarize", when: "desk", files: "corpus/notes/*", name: "tonight" };

  test("is shown as it would be queued, and queued by a yes, once", async () => {
    const preview = await desk.browse("/start", { ...files, length: "short" });
    expect(preview.text).toContain("2 jobs would be queued");
    expect(preview.text).toContain("<code>allowed/corpus/notes/a.md</code>");
    expect(preview.text).toContain("1 file of other extensions");
    expect(await queued()).toEqual([]);
    const hidden = [...preview.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const order = Object.fromEntries(hidden.map(([, name, value]) => [name, value])) as Record<
      string,
      string
    >;
    delete order["csrf"];
    expect(order).toEqual({ ...files, length: "short" });
    const done = await desk.browse("/start/queue", order);
    expect(done.text).toContain(
      "Batch tonight is queued. 1 skipped: 1 .gz (security.allowed_exts).",
    );
    await desk.browse("/start/queue", order);
    expect(await queued()).toEqual(
      ["a", "b"].map((name) => ({
        batch: "tonight",
        kind: "summarize",
        path: `allowed/corpus/notes/${name}.md`,
        question: "",
      })),
    );
    const audit = await rowsOf(
      desk.database,
      "select action, batch, outcome, detail->>'files' as files from nightdesk.operator_actions",
    );
    const row = { action: "start", batch: "tonight", outcome: "done", files: "corpus/notes/*" };
    expect(audit).toEqual([row, row]);
  });

  test("a question is queued as a line of a batch, in windows that were chosen", async () => {
    const order = {
      ...{ kind: "ask", question: "--config=/etc/passwd?", name: "asked" },
      ...{ when: "windows", windows: "22:00-06:00 Europe/Berlin" },
    };
    expect((await desk.browse("/start", order)).text).toContain("One job would be queued.");
    await desk.browse("/start/queue", order);
    const rows = await rowsOf(
      desk.database,
      "select r.input->>'question' as question, b.windows from nightdesk.results r join nightdesk_data.batches b using (batch_id) where batch = 'asked'",
    );
    expect(rows).toEqual([
      { question: "--config=/etc/passwd?", windows: ["22:00-06:00 Europe/Berlin"] },
    ]);
  });

  test("a question that would be cut is not asked", async () => {
    const { text } = await desk.browse("/ask", { question: `${"x".repeat(20_000)} of 2026?` });
    expect(text).toContain("The field question is over 20000 characters");
  });

  test("labels are given by examples", async () => {
    const examples = [
      { text: 'Please transfer "480.00" by 24 May.', label: "invoice" },
      { text: "Dear Ada,\nthank you for the rope.", label: "letter" },
    ];
    const order = {
      ...{ kind: "extract", preset: "classify", files: "corpus/notes/*.md", name: "labelled" },
      ...{ when: "desk", examples: examples.map((line) => JSON.stringify(line)).join("\r\n") },
    };
    const preview = await desk.browse("/start", order);
    expect(preview.text).toContain("2 jobs would be queued");
    expect(preview.text).toContain("<dt>Examples</dt><dd>2</dd>");
    await desk.browse("/start/queue", order);
    const rows = await rowsOf(
      desk.database,
      "select input->'labels' as labels, input->'examples' as examples from nightdesk.results where batch = 'labelled'",
    );
    expect(rows).toEqual([1, 2].map(() => ({ labels: ["invoice", "letter"], examples })));
  });

  test.each([
    ["a file outside of the roots", { files: "secret.md" }, "below none of allowed"],
    ["a path that climbs", { files: "corpus/../../secret.md" }, "is absolute or climbs"],
    ["an absolute path", { files: "/etc/passwd" }, "is absolute or climbs"],
    ["no file", { files: " " }, "No file is named"],
    ["a glob of nothing", { files: "**/*.rst" }, "matches no file"],
    ["a model that is not configured", { model: "http://evil.example/" }, "model is"],
    ["no label", { kind: "extract", preset: "classify" }, "give two labels or more"],
    [
      "an example that is none",
      { kind: "extract", preset: "classify", examples: '{"text": "Hello"}' },
      "line 1 label",
    ],
    [
      "examples without end",
      { kind: "extract", preset: "classify", examples: "x".repeat(60_001) },
      "over 60000 characters",
    ],
    [
      "a list of files that would be cut",
      { files: "corpus/notes/a.md\n".repeat(1_200) },
      "The field files is over 20000 characters",
    ],
    ["a window that is none", { when: "windows", windows: "noon" }, "is no window"],
  ])(
    "%s is refused with what was filled in, before a yes and after it",
    async (_, order, words) => {
      const before = (await queued()).length;
      for (const path of ["/start", "/start/queue"]) {
        const { text } = await desk.browse(path, { ...files, name: "refused", ...order });
        expect(text.replaceAll("&quot;", '"')).toContain(words);
        expect(text).toContain('value="refused"');
      }
      expect(await queued()).toHaveLength(before);
    },
  );
});
