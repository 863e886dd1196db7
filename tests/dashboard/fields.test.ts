import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

const bill = (customId: string, output: Readonly<Record<string, unknown>>) => ({
  customId,
  input: { kind: "extract", path: `bills/${customId}.txt` },
  output,
});

describeOnPostgres("the extractions of a batch as a table", () => {
  let desk: TestDesk;
  let here: string;
  let jobs: ReadonlyMap<string, string>;

  async function batchOf(name: string, jobs: Parameters<typeof insertFinishedBatch>[1]["jobs"]) {
    const ids = await insertFinishedBatch(desk.db, { name, jobs });
    const { rows } = await desk.db.query(
      "select batch_id from nightdesk_data.batches where name = $1",
      [name],
    );
    return { ids, path: `/batches/${(rows[0] as { batch_id: string }).batch_id}/fields` };
  }

  beforeAll(async () => {
    desk = await openDesk();
    const { ids, path } = await batchOf("bills", [
      bill("a", { total: 9, vendor: { name: "Zeta <b>" }, paid: "2026-03-01" }),
      bill("b", { total: 100, vendor: { name: "=1+1" }, paid: null }),
      bill("c", { total: "20.5", vendor: { name: "Alpha" } }),
      { ...bill("d", {}), state: "refused", code: "FILE_EMPTY", message: "It is empty." },
    ]);
    here = path;
    jobs = ids;
    await desk.db.query(
      `insert into nightdesk_data.field_bindings (run_id, ordinal, pointer, value, state, reason, grade)
       select run_id, 0, '/vendor/name', '"=1+1"', 'unbound', 'quote_not_found', 'unsupported' from nightdesk_data.jobs where job_id = $1`,
      [ids.get("b")],
    );
  });
  afterAll(() => desk.close());

  const shownIn = (text: string): string =>
    (/name="shown" value="([^"]*)"/.exec(text)?.[1] ?? "").replaceAll("&quot;", '"');
  const filesOf = (text: string) => [...text.matchAll(/>bills\/(\w)\.txt</g)].map(([, id]) => id);

  test("has a column for each path, and marks what no words carry", async () => {
    const { text } = await desk.browse(here);
    expect(text.match(/<th scope="col"/g)).toHaveLength(5);
    expect(text).toContain(">vendor · name</a>");
    expect(text).toContain("Zeta &lt;b&gt;");
    expect(
      text.match(/<span dir="auto">[^<]*<\/span> <span class="state s-unsupported">unbound/g),
    ).toEqual(['<span dir="auto">=1+1</span> <span class="state s-unsupported">unbound']);
    expect(filesOf(text)).toEqual(["a", "b", "c"]);
  });

  test("sorts numbers as numbers, however they are written, and puts what is not there last", async () => {
    expect(filesOf((await desk.browse(`${here}?sort=/total`)).text)).toEqual(["a", "c", "b"]);
    expect(filesOf((await desk.browse(`${here}?sort=/total&dir=desc`)).text)).toEqual([
      ...["b", "c", "a"],
    ]);
    const byDay = await desk.browse(`${here}?sort=/paid&dir=desc`);
    expect(filesOf(byDay.text)).toEqual(["a", "b", "c"]);
    expect(byDay.text).toContain('aria-sort="descending"');
    const unknown = await desk.browse(`${here}?sort=/nothing'--`);
    expect(filesOf(unknown.text)).toEqual(["a", "b", "c"]);
  });

  test("is a CSV that no spreadsheet takes for formulas", async () => {
    const csv = await desk.browse(`${here}.csv`);
    expect(csv.headers["content-type"]).toContain("text/csv");
    const lines = csv.text.trimEnd().split("\n");
    expect(lines[0]).toBe(
      "custom_id,path,item,grade,paid,total,vendor.name,unbound,run_id,decided",
    );
    expect(lines[2]).toMatch(/^b,bills\/b\.txt,,,,100,'=1\+1,vendor\.name,[0-9a-f-]{36},$/);
    expect(lines).toHaveLength(4);
  });

  test("takes what a person decides on a value from the page of its file, and shows it beside the value", async () => {
    const run = `/runs/${jobs.get("b") ?? ""}`;
    const before = (await desk.browse(run)).text;
    expect(before).toContain("No words of the document carry it.");
    expect(before).toContain(`action="${run}/fields/0"`);
    const shown = (): Promise<string> => desk.browse(run).then(({ text }) => shownIn(text));
    const decide = async (form: Record<string, string>): Promise<string> => {
      const { headers } = await desk.browse(`${run}/fields/0`, { shown: await shown(), ...form });
      return (await desk.browse(String(headers.location))).text;
    };
    expect(await decide({ choice: "2", correction: " " })).toContain(
      "Nothing was changed. A correction needs the value in your own words.",
    );
    const stale = await shown();
    const after = await decide({ choice: "2", correction: "Beta <i>", reason: "its stamp" });
    expect(after).toContain("vendor name is corrected: Beta &lt;i&gt;.");
    expect(after).toMatch(/corrected to Beta &lt;i&gt; by \S+: its stamp/);
    expect(after).toContain("vendor name: =1+1");
    expect(await decide({ choice: "4", shown: stale })).toContain(
      "vendor name is not as your page showed it: look at it again.",
    );
    expect((await desk.browse(run)).text).toContain("corrected to Beta &lt;i&gt; by");
    const table = (await desk.browse(here)).text;
    expect(table).toMatch(
      />=1\+1<\/span> <span class="note" dir="auto">corrected to Beta &lt;i&gt; by/,
    );
    expect(table).not.toContain(">unbound</span></td>");
    const [, , b] = (await desk.browse(`${here}.csv`)).text.split("\n");
    expect(b).toMatch(/^b,.*,'=1\+1,,[0-9a-f-]{36},vendor\.name corrected to Beta <i> by /);
    const { rows } = await desk.db.query(
      "select action, outcome from nightdesk.operator_actions where job_id = $1 order by action_id",
      [jobs.get("b")],
    );
    expect(rows).toEqual([
      { action: "correct", outcome: "failed" },
      { action: "correct", outcome: "done" },
      { action: "reject", outcome: "failed" },
    ]);
    expect(before).toMatch(/<form [^>]*fields\/0"><input[^>]*><button hidden disabled>/);
    expect(await desk.browse(`${run}/fields/7`, { choice: "4" })).toMatchObject({ status: 404 });
  });

  test("has a row an item where files have lists of records", async () => {
    const { path } = await batchOf("minutes", [
      bill("m", {
        items: [
          { task: "b", days: 10 },
          { task: "a", days: 9 },
        ],
      }),
      bill("n", { items: [] }),
    ]);
    const { text } = await desk.browse(`${path}?sort=/days`);
    expect([...text.matchAll(/<span dir="auto">([a-z])<\/span>/g)].map(([, task]) => task)).toEqual(
      [...["a", "b"]],
    );
    const csv = (await desk.browse(`${path}.csv`)).text.trimEnd().split("\n");
    expect(csv.map((line) => line.split(",").slice(0, 6).join(","))).toEqual([
      "custom_id,path,item,grade,days,task",
      "m,bills/m.txt,1,,10,b",
      "m,bills/m.txt,2,,9,a",
    ]);
    const files = await desk.browse(`${path}?rows=.`);
    expect(filesOf(files.text)).toEqual(["m", "n"]);
  });
});
