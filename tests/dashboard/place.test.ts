import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { hasPages } from "../../src/shared/views/carried-words.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { DOUBTED, openMarkedPage, PATH, WORDS } from "./marked-page.ts";
import { openDesk } from "./open-desk.ts";

test("a page of each kind of picture that can be drawn has a link, and no other file", () => {
  expect(["a.pdf", "b.TIF", "c.tiff", "d.jpeg"].filter(hasPages)).toHaveLength(4);
  expect(["a.md", "b.heic", "tif"].filter(hasPages)).toEqual([]);
});

describeOnPostgres("the place of a statement on its page", () => {
  let marked: Awaited<ReturnType<typeof openMarkedPage>>;
  beforeAll(async () => {
    marked = await openMarkedPage();
  });
  afterAll(() => marked.close());

  test("a run leads to it, and it shows the page with its marks and the words as alternative text", async () => {
    const { desk, runId, key } = marked;
    const path = `/runs/${runId}/statements/1`;
    expect((await desk.browse(`/runs/${runId}`)).text).toContain(
      `<a href="${path}#place-mark">Show on its page</a>`,
    );
    const { text } = await desk.browse(path);
    expect(desk.commands.at(-1)).toEqual([
      "evidence",
      "show",
      "--statement",
      "1",
      "--json",
      "--",
      runId,
    ]);
    expect(text).toContain(
      `<img src="/pictures/${key}" alt="Mooring fee &quot;71,73&quot; &lt;euros&gt;"`,
    );
    expect(text.match(/<rect id="place-mark"/g)).toHaveLength(1);
  });

  test("a figure in doubt is cut out beside its two readings, and what is chosen is stored and written down", async () => {
    const { desk, runId, key } = marked;
    const path = `/runs/${runId}/statements/1`;
    const { text } = await desk.browse(path);
    expect(text).toContain(`<image href="/pictures/${key}" width="595" height="842"`);
    expect(text).toContain("71,73 was read with 66 %, and as 71,&lt;b&gt; by the second reader.");
    expect(text).toContain('<button class="plain" name="reading" value="second">71,&lt;b&gt;');
    const choose = (form: Record<string, string>) =>
      desk.browse(path, { figure: DOUBTED, ...form });
    await choose({ reading: "second" });
    await choose({ reading: "as", words: " 71,71 " });
    await choose({ reading: "as", words: "" });
    const { rows } = await desk.db.query(
      "select chosen, chosen_by from nightdesk.doubtful_figures",
    );
    expect(rows).toEqual([{ chosen: "71,71", chosen_by: expect.stringMatching(/./) }]);
    const audit = await desk.db.query(
      "select action, outcome, detail->>'reading' as reading from nightdesk.operator_actions order by action_id",
    );
    expect(audit.rows).toEqual([
      { action: "choose", outcome: "done", reading: "second" },
      { action: "choose", outcome: "done", reading: "as" },
      { action: "choose", outcome: "failed", reading: "as" },
    ]);
    const forged = await desk.ask({
      path,
      method: "POST",
      body: `figure=${DOUBTED}&reading=first`,
    });
    expect(forged.status).toBe(403);
  });

  test("where another piece says it too leads to its page as well", async () => {
    const { desk, runId } = marked;
    const place = { number: 2, path: PATH, start_char: 0, end_char: 9, line_start: 1, line_end: 2 };
    const others = [
      { ...place, locator: { page: 3 } },
      { ...place, path: "notes.md", locator: null },
    ];
    await desk.db.query(
      "update nightdesk_data.claims set other_places = $2 where run_id = $1 and ordinal = 0",
      [runId, JSON.stringify(others)],
    );
    const path = `/runs/${runId}/statements/1?place=1`;
    const { text } = await desk.browse(`/runs/${runId}`);
    expect(text).toContain(
      `<li>[2] ${PATH}, lines 1–2, page 3 <a href="${path}#place-mark">Show on its page</a></li>`,
    );
    expect(text).toContain("<li>[2] notes.md, lines 1–2 </li>");
    // Its words are those of the index, which has not the file yet.
    expect((await desk.browse(path)).status).toBe(404);
  });

  test("a value of an extraction leads to its page as well", async () => {
    const { desk } = marked;
    const jobs = await insertFinishedBatch(desk.db, {
      name: "fields",
      jobs: [
        {
          ...{ customId: "bill", input: { kind: "extract", path: PATH }, output: { fee: "71,73" } },
          evidence: [{ path: PATH, lines: [1, 3], sha256: "a".repeat(64) }],
        },
      ],
    });
    const { rows } = await desk.db.query(
      `insert into nightdesk_data.field_bindings (run_id, ordinal, pointer, value, state, grade, quote, number, path,
              start_char, end_char, line_start, line_end)
       select run_id, 0, '/fee', '"71,73"', 'bound', 'supported', $3, 1, $2, 10, 33, 2, 2
         from nightdesk_data.jobs where job_id = $1 returning run_id`,
      [jobs.get("bill"), PATH, WORDS],
    );
    const path = `/runs/${(rows[0] as { run_id: string }).run_id}`;
    const { text } = await desk.browse(path);
    expect(text).toContain(">fee: 71,73<");
    expect(text).toContain(`<a href="${path}/statements/1#place-mark">Show on its page</a>`);
    expect((await desk.browse(`${path}/statements/1`)).text).toContain('id="place-mark"');
  });

  test("a picture has a type of its own and runs nothing", async () => {
    const { desk, key } = marked;
    const { status, headers } = await desk.browse(`/pictures/${key}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
  });

  test.each(["/pictures/..%2Fpages%2Fx", `/pictures/${"0".repeat(64)}`, "/runs/x/statements/1"])(
    "there is nothing at %s",
    async (path) => {
      expect((await marked.desk.browse(path)).status).toBe(404);
    },
  );

  test("a statement that no words carry has no page", async () => {
    const { desk, runId } = marked;
    const { status, text } = await desk.browse(`/runs/${runId}/statements/2`);
    expect({ status, text }).toMatchObject({
      status: 404,
      text: expect.stringContaining("no words"),
    });
  });

  test("what is not let in sees neither, and no other site gets it", async () => {
    const { key, runId } = marked;
    const closed = await openDesk({ dashboard: { token: "correct horse battery staple 2026" } });
    for (const path of [`/pictures/${key}`, `/runs/${runId}/statements/1`]) {
      expect((await closed.ask({ path })).status).toBe(401);
      expect((await closed.ask({ path, headers: { host: "evil.example" } })).status).toBe(421);
    }
    await closed.close();
  });
});

describeOnPostgres("a page that can't be drawn", () => {
  test.each([
    [
      {
        code: 0,
        stdout: '{"statements":[{"picture":null,"error_message":"Run <this>."}]}',
        stderr: "",
      },
      "Run &lt;this&gt;.",
    ],
    [{ code: 1, stdout: "", stderr: "nightdesk: DISK_FULL: no room" }, "DISK_FULL: no room"],
  ])("leaves the words, and says why: %j", async (commandEnd, said) => {
    const marked = await openMarkedPage(commandEnd);
    const { text } = await marked.desk.browse(`/runs/${marked.runId}/statements/1`);
    expect(text).toContain(said);
    expect(text).toContain('<blockquote dir="auto">Mooring fee');
    expect(text).not.toContain("<img");
    await marked.close();
  });
});
