import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { jsonLine, jsonLines, runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";
import { workersEnded } from "../support/workers-ended.ts";

// One work root for the file; the tests build on each other in their order, as a user's evening does.
let topology: Topology;
/** Started when backups have been restored: until then a command that waits starts one of its own. */
let worker: Running | undefined;
beforeAll(async () => {
  topology = await startTopology("embedded", { log: { level: "info" } });
  await mkdir(join(topology.workroot, "allowed", "scratch"));
  await write("bear.md", "# The Bear\n\nThe Bear burns 4.2 litres of diesel an hour.\n");
  await write("goats.md", "# Goats\n\nFourteen goats live behind the hut.\n");
  await write("soup.md", "# Soup\n\nThe soup is stirred at noon.\n");
});
afterAll(async () => {
  worker?.kill("SIGTERM");
  const stopped = await worker?.ended;
  await topology.dispose();
  expect({ code: stopped?.code, stdout: stopped?.stdout }).toEqual({ code: 0, stdout: "" });
});

const run = (...words: readonly string[]): Promise<Ended> =>
  runCommand(words, { cwd: topology.workroot });
/** It is no command of the producer's process. */
const restore = (...words: readonly string[]): Promise<Ended> =>
  runBin(["restore", ...words], { cwd: topology.workroot });
const write = (name: string, content: string | Uint8Array): Promise<void> =>
  writeFile(join(topology.workroot, "allowed", "corpus", name), content);
const file = (name: string, content: string | Uint8Array): Promise<void> =>
  writeFile(join(topology.workroot, name), content);

type Check = { readonly error_code: string; readonly level: string; readonly message: string };
const checksOf = (ended: Ended): Record<string, string> =>
  Object.fromEntries(
    (jsonLine(ended)["checks"] as Check[]).map(({ error_code, level }) => [error_code, level]),
  );
const summaryOf = (ended: Ended): unknown => jsonLine(ended)["summary"];

describe("before a worker is started", () => {
  test("a question before anything is indexed is refused, and the doctor says that the index is empty", async () => {
    const asked = await run("ask", "How much diesel does the Bear burn?", "--wait", "--json");
    expect(asked.code).toBe(4);
    expect(jsonLine(asked)).toMatchObject({ error_code: "EVIDENCE_NOT_ACQUIRED" });
    const doctor = await run("doctor", "--json");
    expect(doctor.code).toBe(0);
    expect(checksOf(doctor)).toMatchObject({ DOCTOR_INDEX_EMPTY: "warn" });
    expect(doctor.stdout).toContain(
      "Put documents (.md, .markdown, .txt, .log, .json, .yaml, .yml, .pdf, .docx, .odt, .html, .htm, .eml, .mbox, .csv, .tsv, .xlsx, .xlsm, .ods, .pptx, .odp, .epub, .rtf, .ics, .vcf, .zip, .doc, .xls, .ppt, .msg) into allowed/corpus or",
    );
  });

  test("a backup replaces a file only with --force, and says so", async () => {
    await file("kept.tar.gz", "theirs");
    await workersEnded(topology.workroot);
    const kept = await run("backup", "kept.tar.gz", "--json");
    expect({ code: kept.code, ...jsonLine(kept) }).toMatchObject({
      code: 1,
      error_code: "INPUT_INVALID",
      error_message: expect.stringMatching(/kept\.tar\.gz is there already\. Give --force/),
    });
    expect((await run("backup", "kept.tar.gz", "--force")).code).toBe(0);
    expect((await stat(join(topology.workroot, "kept.tar.gz"))).mode & 0o777).toBe(0o600);
  });

  test("a restore replaces a database only with --force, keeps its data, and is at once what commands see", async () => {
    const asked = "select count(*) as n from results where kind = 'chat'";
    const chats = async () => JSON.parse((await run("sql", asked, "--json")).stdout) as unknown;
    expect((await run("chat", "Not in the dump.")).code).toBe(0);
    expect(await chats()).toEqual([{ n: 1 }]);
    const kept = await restore("kept.tar.gz", "--json");
    expect({ code: kept.code, ...jsonLine(kept) }).toMatchObject({
      code: 1,
      error_code: "INPUT_INVALID",
      error_message: expect.stringMatching(/^There is a database in .* already\. Give --force/),
    });
    const missing = await restore("missing.tar.gz", "--force", "--json");
    expect(jsonLine(missing)).toMatchObject({ error_code: "NOT_FOUND" });
    expect(await chats()).toEqual([{ n: 1 }]);

    const restored = await restore("kept.tar.gz", "--force", "--json");
    const directory = join(topology.workroot, ".nightdesk");
    expect({ code: restored.code, ...jsonLine(restored) }).toEqual({
      ...{ code: 0, ok: true, file: join(topology.workroot, "kept.tar.gz"), directory },
      set_aside: expect.stringMatching(/\.nightdesk\/pgdata\.replaced-\d{8}T\d{9}Z$/),
    });
    expect(await chats()).toEqual([{ n: 0 }]);
    await rm(String(jsonLine(restored)["set_aside"]), { recursive: true });
  });

  test("a restore of a newer version's dump is SCHEMA_OUTDATED, and nothing is changed", async () => {
    const database = await topology.connect();
    const name = "9999_of_another_version.sql";
    const applied = "nightdesk_migrations.applied";
    await database.query(`insert into ${applied} (name, sha256) values ($1, '')`, [name]);
    await database.query(`nightdesk backup '${join(topology.workroot, "newer.tar.gz")}'`);
    await database.query(`delete from ${applied} where name = $1`, [name]);
    await database.end();
    const names = async () => (await readdir(join(topology.workroot, ".nightdesk"))).sort();
    const refused = await restore("newer.tar.gz", "--force", "--json");
    expect({ code: refused.code, ...jsonLine(refused) }).toMatchObject({
      code: 78,
      error_code: "SCHEMA_OUTDATED",
      error_message: expect.stringMatching(
        /newer\.tar\.gz can't be restored\. .*9999_of_another_version/,
      ),
    });
    expect(await names()).not.toContain("pgdata.restored.partial");
    expect((await names()).filter((it) => it.startsWith("pgdata."))).toEqual([]);
    expect((await run("batch", "list")).code).toBe(0);
  });

  test("a restore under a worker is refused, and one for a server names its tool", async () => {
    const database = await topology.connect();
    const workers = "nightdesk_data.workers";
    await database.query(
      `insert into ${workers} (worker_id, host, pid, version, concurrency, config_file, shared_config)
       values (gen_random_uuid(), 'here', 1, '0', 1, '/nightdesk.yaml', '{}')`,
    );
    const refused = await restore("kept.tar.gz", "--force");
    expect(refused.stderr).toMatch(
      /INPUT_INVALID: 1 worker works on the database in .*Stop nightdesk up/,
    );
    expect(refused.code).toBe(1);
    await database.query(`delete from ${workers} where host = 'here'`);
    await database.end();
    const env = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    const server = await runBin(["restore", "a dump"], { cwd: topology.workroot, env });
    expect(server.stderr).toContain(
      `pg_restore --no-owner --dbname="$DATABASE_URL" '${topology.workroot}/a dump'`,
    );
    expect(server.code).toBe(1);
  });
});

describe("the index and its doctor", () => {
  beforeAll(async () => {
    worker = startBin(["worker"], { cwd: topology.workroot });
    await worker.said(/worker ready/);
  });

  test("an index of a folder without documents says where they go, which are taken and which are left out", async () => {
    const scratch = join(topology.workroot, "allowed", "scratch");
    const empty = await run("index", "--source", "scratch");
    expect(empty).toMatchObject({ code: 0, stdout: expect.stringContaining("0 documents") });
    expect(empty.stderr).toContain(
      `There is nothing to index. Put documents into ${scratch}, and run nightdesk index again. ` +
        "Files are read that end with .md, .markdown, .txt, .log, .json, .yaml, .yml, .pdf, .docx, .odt, .html, .htm, .eml, .mbox, .csv, .tsv, .xlsx, .xlsm, .ods, .pptx, .odp, .epub, .rtf, .ics, .vcf, .zip, .doc, .xls, .ppt, .msg (security.allowed_exts).\n",
    );
    for (const name of ["a.gz", "b.GZ", "c.png"]) await writeFile(join(scratch, name), "x");
    const others = await run("index", "--source", "scratch");
    expect(others.stderr).toContain(
      "3 skipped: 2 .gz, 1 .png (security.allowed_exts).\n" +
        `There is nothing to index. Put documents into ${scratch}, and run nightdesk index again. Files are read that end with`,
    );
    const json = await run("index", "--source", "scratch", "--json");
    expect(summaryOf(json)).toMatchObject({
      skipped_files: 3,
      skipped_by_extension: { ".gz": 2, ".png": 1 },
    });
    for (const name of ["a.gz", "b.GZ", "c.png"]) await rm(join(scratch, name));
  });

  test("vectors that are missing are a warning, and a failure where they are required", async () => {
    const indexed = await run("index", "--no-embed", "--json");
    expect(indexed.code).toBe(0);
    expect(summaryOf(indexed)).toMatchObject({ added: 3, failed: 0, documents_seen: 3 });
    const lenient = await run("doctor", "--json");
    expect({ code: lenient.code, checks: checksOf(lenient) }).toMatchObject({
      code: 0,
      checks: { DOCTOR_EMBED_MISSING: "warn", DOCTOR_INDEX_NONEMPTY: "ok" },
    });
    for (const flag of ["--require-embeddings", "--require-phase3"]) {
      const strict = await run("doctor", "--json", flag);
      expect({ code: strict.code, checks: checksOf(strict) }).toMatchObject({
        code: 1,
        checks: { DOCTOR_EMBED_MISSING: "fail" },
      });
    }
  });

  test("embed counts, makes some, makes the rest, and makes them again", async () => {
    expect(summaryOf(await run("embed", "--dry-run", "--json"))).toMatchObject({
      missing: 3,
      embedded: 0,
    });
    expect(summaryOf(await run("embed", "--limit", "1", "--json"))).toMatchObject({
      missing: 2,
      embedded: 1,
    });
    expect(summaryOf(await run("embed", "--json"))).toMatchObject({ missing: 0, embedded: 2 });
    expect(summaryOf(await run("embed", "--rebuild", "--json"))).toMatchObject({ embedded: 3 });
    expect((await run("doctor", "--require-embeddings")).code).toBe(0);
  });

  test("embed with a model that the embedder does not have fails", async () => {
    const ended = await run("embed", "--model", "nope", "--json");
    expect(ended.code).toBe(1);
    expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: "EMBED_MODEL_MISSING" });
  });

  test("says exactly what changed, what came, what went and what broke", async () => {
    await write("bear.md", "# The Bear\n\nThe Bear burns 4.4 litres of diesel an hour.\n");
    await write("new.md", "# New\n\nThe new stove is green.\n");
    await rm(join(topology.workroot, "allowed", "corpus", "soup.md"));
    await write("broken.md", new Uint8Array([0x61, 0xff, 0xfe, 0x62]));
    const ended = await run("index", "--json");
    expect(ended.code).toBe(3);
    expect(summaryOf(ended)).toMatchObject({
      ...{ documents_seen: 4, added: 1, changed: 1, unchanged: 1, removed: 1, failed: 1 },
    });
    const failures = await run("sql", "select origin, path, error_code from failures", "--json");
    expect(JSON.parse(failures.stdout)).toEqual(
      expect.arrayContaining([
        { origin: "document", path: "allowed/corpus/broken.md", error_code: "FILE_READ_ERROR" },
      ]),
    );
    expect(checksOf(await run("doctor", "--json"))).toMatchObject({
      DOCTOR_DOCUMENTS_FAILED: "warn",
    });
    await rm(join(topology.workroot, "allowed", "corpus", "broken.md"));
  });

  test("names the sources there are when one is misspelt", async () => {
    for (const words of [
      ["index", "--source", "nope"],
      ["query", "diesel", "--source", "nope"],
    ]) {
      const ended = await run(...words, "--json");
      expect(ended.code).toBe(1);
      const failure = jsonLine(ended);
      expect(failure).toMatchObject({ ok: false, error_code: "NOT_FOUND" });
      expect(failure["error_message"]).toContain("corpus, scratch");
    }
  });

  test("rebuild indexes every document again, and the doctor is content", async () => {
    expect(summaryOf(await run("index", "--rebuild", "--json"))).toMatchObject({
      changed: 3,
      failed: 0,
    });
    const doctor = await run("doctor", "--require-embeddings");
    expect(doctor).toMatchObject({ code: 0, stderr: "" });
    expect(doctor.stdout).toMatch(/\ndoctor summary: ok=\d+ warn=0 fail=0\n$/);
    expect(doctor.stdout).toMatch(
      /DOCTOR_DATABASE_SIZE_OK: \S+\.nightdesk takes [\d.]+ MB: [\d.]+ MB the database/,
    );
  });
});

describe("stdout is data", () => {
  test("a query for people, as JSON, and as a file of queries", async () => {
    const words = await run("query", "diesel", "--limit", "1");
    expect(words).toMatchObject({ code: 0, stderr: "" });
    expect(words.stdout).toMatch(/^1\. allowed\/corpus\/bear\.md:1-3 {2}The Bear {2}\(/);

    const one = jsonLine(await run("query", "diesel", "--json", "--limit", "1"));
    expect(one).toMatchObject({ ok: true, hits: [{ path: "allowed/corpus/bear.md" }] });

    await file(
      "queries.jsonl",
      '{"id":7,"text":"diesel"}\n\n{"id":"g","text":"goats \\u0000\\ud800"}\n',
    );
    const many = await run("query", "--file", "queries.jsonl", "--mode", "lexical");
    expect(many).toMatchObject({ code: 0, stderr: "" });
    expect(jsonLines(many).map(({ id, hits }) => ({ id, first: (hits as object[])[0] }))).toEqual([
      { id: 7, first: expect.objectContaining({ path: "allowed/corpus/bear.md" }) },
      { id: "g", first: expect.objectContaining({ path: "allowed/corpus/goats.md" }) },
    ]);
    const [{ hits } = { hits: [] }] = jsonLines(many) as { hits: object[] }[];
    expect(Object.keys(hits[0] ?? {}).join(" ")).toBe(
      "chunk_key path heading_path start_char end_char line_start line_end score day day_until day_source newer_versions text",
    );
  });

  test.each([
    ['{"id":1}\n', ":1 "],
    ['{"id":1,"text":"x"}\nnot json\n', ":2 "],
    ['{"id":1,"text":"x"}\n{"id":2,"text":"  "}\n', ":2 "],
  ])("a bad file of queries names its line: %j", async (content, place) => {
    await file("bad-queries.jsonl", content);
    const ended = await run("query", "--file", "bad-queries.jsonl", "--json");
    expect(ended.code).toBe(1);
    const failure = jsonLine(ended);
    expect(failure).toMatchObject({ error_code: "INPUT_INVALID" });
    expect(failure["error_message"]).toContain(`bad-queries.jsonl${place}`);
  });

  test("a batch with refusals ends with 3; its export and its rows parse", async () => {
    await file(
      "jobs.jsonl",
      [
        { custom_id: "a", kind: "ask", question: "How much diesel does the Bear burn?" },
        { custom_id: "=1+1", kind: "summarize", path: "../../etc/passwd" },
        { custom_id: "v", kind: "embed", text: ["one", "two"] },
      ]
        .map((job) => `${JSON.stringify(job)}\n`)
        .join(""),
    );
    const queued = await run(
      "enqueue",
      "jobs.jsonl",
      "--batch-name",
      "tonight",
      "--wait",
      "--json",
    );
    expect(queued.code).toBe(3);
    expect(jsonLine(queued)).toMatchObject({ ok: true, batch: "tonight", added: 3 });
    // stderr is no terminal: no bar, no carriage return, no escape.
    expect(queued.stderr).not.toMatch(/[\r\u001b]/);

    const exported = await run("batch", "export", "tonight");
    expect(jsonLines(exported).map(({ custom_id, state }) => [custom_id, state])).toEqual([
      ["a", "succeeded"],
      ["=1+1", "refused"],
      ["v", "succeeded"],
    ]);
    const csv = await run(
      "sql",
      "select custom_id from results where batch = 'tonight'",
      "--format",
      "csv",
    );
    expect(csv.stdout.split("\n").slice(1, 4)).toContain("'=1+1");
    const rows = await run(
      "sql",
      "select state, count(*) as n from results where batch = 'tonight' group by 1 order by 1",
      "--json",
    );
    expect(JSON.parse(rows.stdout)).toEqual([
      { state: "refused", n: 1 },
      { state: "succeeded", n: 2 },
    ]);
  });

  test.each([
    "batch list",
    "runs list",
    "batch show tonight",
    "config show",
    "doctor",
    "migrate --status",
  ])("%s --json is one line that parses", async (words) => {
    const ended = await run(...words.split(" "), "--json");
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
    expect(jsonLine(ended)).toBeDefined();
  });
});

describe("what can't be queued", () => {
  test.each([
    ["an empty file", "empty.jsonl", ""],
    ["a binary file", "binary.jsonl", new Uint8Array([0xff, 0x00, 0x0a, 0xfe])],
    ["a NUL", "nul.jsonl", '{"kind":"ask","question":"a\\u0000b"}\n'],
    ["half a surrogate pair", "half.jsonl", '{"kind":"ask","question":"a\\ud800"}\n'],
    ["an unknown kind", "kind.jsonl", '{"kind":"sing"}\n'],
  ])("%s", async (_, name, content) => {
    await file(name, content);
    const before = await batchCount();
    const ended = await run("enqueue", name, "--json");
    expect(ended.code).toBe(1);
    expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: "INPUT_INVALID" });
    expect(await batchCount()).toBe(before);
  });

  test.each(["allowed", "missing.jsonl"])("%s, which is no file", async (name) => {
    const ended = await run("enqueue", name);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^nightdesk: INPUT_INVALID: .+\n$/);
  });

  test("a blank question, and one with half a surrogate pair is no reason to crash", async () => {
    expect(jsonLine(await run("ask", "  ", "--json"))).toMatchObject({
      error_code: "INPUT_INVALID",
    });
    expect(jsonLine(await run("query", "", "--json"))).toMatchObject({
      error_code: "INVALID_QUERY",
    });
    expect((await run("query", "goats \ud800 \u0007")).code).toBe(0);
  });

  test("a very long question is answered or refused, never an accident", async () => {
    const ended = await run("ask", `goats ${"and hens ".repeat(12_000)}`, "--wait", "--json");
    expect([0, 4]).toContain(ended.code);
    expect(jsonLine(ended)).toHaveProperty("state");
  });

  test("a batch that is not there", async () => {
    for (const word of ["show", "wait", "cancel", "export"]) {
      const ended = await run("batch", word, "nope", "--json");
      expect(ended.code).toBe(1);
      expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: "NOT_FOUND" });
    }
  });
});

describe("names that files should not have", () => {
  const names = [`it's "q" ü 🐐.md`, "with space.md", "-rf.md", "$(id).md"];

  test("spaces, quotes and umlauts are names like any other", async () => {
    for (const name of names)
      await write(name, `# Odd\n\nThe odd goat is called ${name.length}.\n`);
    expect((await run("index")).code).toBe(0);
    for (const name of names) {
      const ended = await run("summarize", `allowed/corpus/${name}`, "--wait", "--json");
      expect(ended.code).toBe(0);
      expect(jsonLine(ended)["evidence"]).toEqual([
        expect.objectContaining({ path: `allowed/corpus/${name}` }),
      ]);
    }
  });

  test("an escape sequence in a name is refused, and can't drive the terminal", async () => {
    await write("\u001b[31mred.md", "# Red\n\nRed.\n");
    const indexed = await run("index");
    expect(indexed.code).toBe(3);
    expect(indexed.stderr).toContain("PATH_DENIED");
    const summary = await run("summarize", "allowed/corpus/\u001b[31mred.md", "--wait");
    expect(summary.code).toBe(4);
    for (const { stdout, stderr } of [indexed, summary]) {
      expect(stdout + stderr).not.toContain("\u001b");
    }
    await rm(join(topology.workroot, "allowed", "corpus", "\u001b[31mred.md"));
  });
});

describe("sql", () => {
  test("runs as a role that can take no advisory lock", async () => {
    const ended = await run(
      "sql",
      "select count(*) from pg_proc where proname like 'pg\\_%advisory%' and has_function_privilege(oid, 'execute')",
      "--json",
    );
    expect(JSON.parse(ended.stdout)).toEqual([{ count: 0 }]);
  });

  test.each([
    "drop table nightdesk_data.jobs",
    "select 1; select 2",
    "commit; drop table nightdesk_data.jobs",
    "set role postgres",
    "",
    "select * from nightdesk_data.jobs",
    "select pg_read_file('/etc/passwd')",
    "select pg_advisory_lock(7301001)",
  ])("refuses %j", async (statement) => {
    const ended = await run("sql", statement, "--json");
    expect(ended.code).toBe(1);
    expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: "SQL_ERROR" });
  });

  test("stops what takes too long, and the database is there for the next", async () => {
    const ended = await run("sql", "select pg_sleep(60)", "--timeout", "1", "--json");
    expect(ended.code).toBe(1);
    const failure = jsonLine(ended);
    expect(failure).toMatchObject({ error_code: "SQL_ERROR" });
    expect(failure["error_message"]).toContain("--timeout");
    expect(await batchCount()).toBeGreaterThan(0);
  });
});

async function batchCount(): Promise<number> {
  const { stdout } = await run("sql", "select count(*) as n from batch_progress", "--json");
  const [row] = JSON.parse(stdout) as { n: number }[];
  return row?.n ?? 0;
}

describe("frontmatter", () => {
  test("decides which documents a question and a query look at", async () => {
    await write("oven.md", "---\ntags: [kitchen]\n---\n# Oven\n\nThe oven is lit at six.\n");
    await write("forge.md", "---\ntags: [yard]\n---\n# Forge\n\nThe forge is lit at seven.\n");
    expect((await run("index", "--json")).code).toBe(0);
    const ask = (...filter: readonly string[]) =>
      run("ask", "When is it lit?", "--wait", "--json", ...filter);
    expect(jsonLine(await ask("--where", "tag=yard"))).toMatchObject({
      ok: true,
      citations: [{ path: "allowed/corpus/forge.md" }],
    });
    expect(jsonLine(await ask("--where", "tag=kitchen"))).toMatchObject({
      citations: [{ path: "allowed/corpus/oven.md" }],
    });
    expect(jsonLine(await ask("--where", "tag=cellar"))).toMatchObject({
      error_code: "EVIDENCE_NOT_ACQUIRED",
    });
    expect(await ask("--where", "kitchen")).toMatchObject({ code: 2 });
    const found = await run("query", "lit", "--where", "tag=yard", "--json");
    expect(found.stdout).toContain("forge.md");
    expect(found.stdout).not.toContain("oven.md");
  });

  test("is looked at again after --verify, which finds a change that the times do not show", async () => {
    const verified = await run("index", "--verify", "--json");
    expect(summaryOf(verified)).toMatchObject({ changed: 0, silently_changed: 0 });
  });
});
