import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../../conformance/signal.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  const file = await desk.write(
    "sql.jsonl",
    `{"custom_id":"=cmd|' /C calc'!A0","kind":"ask","question":"first"}\n{"custom_id":"b","kind":"ask","question":"second"}\n`,
  );
  await desk.run("enqueue", file, "--batch-name", "sql");
});
afterAll(() => desk.dispose());

const json = async (statement: string) => {
  const { stdout, code } = await desk.run("sql", statement, "--json");
  expect(code).toBe(0);
  return JSON.parse(stdout) as unknown;
};

describe("rows as JSON", () => {
  test("keep numbers that a double holds, and write the others as text", async () => {
    expect(
      await json(
        `select 1::int8 as small, 9007199254740993::int8 as large, 1.50::numeric as money,
                0.1234567890123456789::numeric as long, 'NaN'::float8 as nan, 1e-7::float8 as tiny`,
      ),
    ).toEqual([
      {
        small: 1,
        large: "9007199254740993",
        money: 1.5,
        long: "0.1234567890123456789",
        nan: "NaN",
        tiny: 1e-7,
      },
    ]);
  });

  test("give times in ISO 8601, JSON as itself, and a column that comes twice a number", async () => {
    expect(
      await json(
        `select true as a, null as a, '2026-11-21 22:04:11.5+01'::timestamptz as at, 'infinity'::timestamptz as never,
                '{"k": [1, "x y"]}'::jsonb as doc, E'{"k":\\n1}'::json as text`,
      ),
    ).toEqual([
      {
        a: true,
        a_2: null,
        at: "2026-11-21T21:04:11.5Z",
        never: "infinity",
        doc: { k: [1, "x y"] },
        text: { k: 1 },
      },
    ]);
  });

  test("are one line, also when there are more than a page of them", async () => {
    const { stdout } = await desk.run("sql", "select n from generate_series(1, 3001) n", "--json");
    expect(stdout.split("\n")).toHaveLength(2);
    expect(JSON.parse(stdout)).toHaveLength(3_001);
  });
});

describe("rows as CSV", () => {
  const HOSTILE = `select * from (values (1, 'a,b', '=1+1'), (2, 'say "x"', '-5'), (3, E'two\\nlines', '@x'), (4, '', '+49 30')) v (n, "x,y", z)`;

  test("are quoted by RFC 4180 and can't become formulas", async () => {
    const { stdout } = await desk.run("sql", HOSTILE, "--format", "csv", "--crlf");
    expect(stdout).toBe(
      `n,"x,y",z\r\n1,"a,b",'=1+1\r\n2,"say ""x""",-5\r\n3,"two\nlines",'@x\r\n4,"",'+49 30\r\n`,
    );
  });

  test("end in line feeds without --crlf, as other programs write them", async () => {
    const { stdout } = await desk.run("sql", HOSTILE, "--format", "csv");
    expect(stdout).toBe(
      `n,"x,y",z\n1,"a,b",'=1+1\n2,"say ""x""",-5\n3,"two\nlines",'@x\n4,"",'+49 30\n`,
    );
  });

  test("are refused line ends of their own in another format", async () => {
    expect(await desk.run("sql", "select 1", "--crlf")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--crlf is for --format csv"),
    });
  });

  test("hold the custom_id of a stranger as a text", async () => {
    const { stdout } = await desk.run(
      "sql",
      "select custom_id from results order by 1",
      "--format",
      "csv",
    );
    expect(stdout).toContain(`'=cmd|' /C calc'!A0`);
  });
});

describe("rows as a table", () => {
  test("are aligned, cleaned and cut", async () => {
    const { stdout, stderr } = await desk.run(
      "sql",
      `select 1 as n, E'\\x1b[2Jred' as text union all select 200, repeat('x', 500) order by 1`,
    );
    const [title, rule, first, second] = stdout.split("\n");
    expect(title).toBe("  n  text");
    expect(rule).toBe(`---  ${"-".repeat(80)}`);
    expect(first).toBe("  1  ␛[2Jred");
    expect(second).toBe(`200  ${"x".repeat(79)}…`);
    expect(stderr).toContain("2 rows");
  });

  test("have titles, also when there is none", async () => {
    const { stdout, stderr } = await desk.run("sql", "select custom_id from results where false");
    expect(stdout.split("\n")[0]).toBe("custom_id");
    expect(stderr).toContain("0 rows");
  });
});

describe("a statement that wants more than to read", () => {
  test.each([
    ["two statements", "select 1; drop schema nightdesk cascade", /multiple commands/],
    ["a commit before another", "commit; drop schema nightdesk cascade", /begins with commit/],
    ["an insert", "insert into nightdesk_data.batches (name) values ('x')", /begins with insert/],
    [
      "an insert inside of a query",
      "with x as (insert into nightdesk_data.batches (name) values ('x') returning 1) select * from x",
      /permission denied|read-only/,
    ],
    ["select into", "select 1 as a into nightdesk_stolen", /read-only|permission denied/],
    [
      "explain analyze of a table",
      "explain analyze create table x as select 1",
      /read-only|permission denied/,
    ],
    ["copy", "copy (select 1) to program 'id'", /begins with copy/],
    ["listen", "listen nightdesk_jobs", /begins with listen/],
    ["a block", "do $$ begin perform 1; end $$", /begins with do/],
    ["another role", "reset role", /begins with reset/],
    ["another role behind comments", "/* a /* b */ */ -- c\n set role postgres", /begins with set/],
    [
      "another role by a function",
      "select set_config('role', 'postgres', true)",
      /set_config can't be used/,
    ],
    [
      "the same by a Unicode escape",
      `select U&"set\\005fconfig"('role', 'postgres', true)`,
      /can't be used/,
    ],
    ["a statement in a text", "select query_to_xml('select 1', true, true, '')", /can't be used/],
    ["a table behind the views", "select * from nightdesk_data.jobs", /permission denied/],
    ["a file of the server", "select pg_read_file('/etc/passwd')", /permission denied/],
    ["a folder of the server", "select pg_ls_dir('/')", /permission denied/],
    ["a file of the server as a large object", "select lo_import('/etc/passwd')", /permission/],
    ["a large object", "select lo_create(0)", /read-only/],
    [
      "a number of a sequence",
      "select nextval('nightdesk_data.jobs_seq_seq')",
      /permission denied/,
    ],
    ["a lock on rows of a view", "select * from results for update", /permission denied|read-only/],
    ["the passwords", "select * from pg_authid", /permission denied/],
    [
      "the end of another session",
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()",
      /permission denied/,
    ],
    ["settings of the server", "select pg_reload_conf()", /permission denied/],
    [
      "a write that is explained",
      "explain (analyze) delete from nightdesk_data.jobs",
      /permission denied/,
    ],
    ["a prepared statement", "prepare x as select 1", /begins with prepare/],
    ["a savepoint", "savepoint x", /begins with savepoint/],
    [
      "another role by a quoted name",
      `select pg_catalog . "set_config" ('role', 'postgres', true)`,
      /set_config can't be used/,
    ],
    [
      "another role by an escape of its own sign",
      `select U&"!0073et_config" UESCAPE '!' ('role', 'postgres', true)`,
      /can't be used/,
    ],
    [
      "a name cut by a comment",
      "select set/**/_config('role', 'x', true)",
      /does not exist|syntax/,
    ],
    ["a statement in a query of words", "select ts_stat('select 1')", /can't be used/],
    [
      "a message in the log of the server, which no rollback takes back",
      "select pg_catalog.pg_logical_emit_message(false, 'x', repeat('x', 100000000))",
      /can't be used/,
    ],
    ["a file of the server's", "select pg_export_snapshot()", /can't be used/],
    ["nothing", "  -- nothing\n", /is empty/],
  ])("is refused: %s", async (_, statement, reason) => {
    const { code, stdout } = await desk.run("sql", statement, "--json");
    const failure = JSON.parse(stdout) as { error_code: string; error_message: string };
    expect(failure.error_code).toBe("SQL_ERROR");
    expect(failure.error_message).toMatch(reason);
    expect(code).toBe(1);
    expect(await rowsOf(desk.database, "select count(*)::int as n from nightdesk.results")).toEqual(
      [{ n: 2 }],
    );
  });
});

describe("what a read-only statement can still call", () => {
  test("a notification is never heard", async () => {
    const heard: string[] = [];
    await desk.database.listen(
      ["nightdesk_jobs", "after"],
      (channel) => heard.push(channel),
      () => undefined,
    );
    await json("select pg_notify('nightdesk_jobs', 'x')");
    await desk.database.query("select pg_notify('after', '')");
    await eventually("the notification after it", async () => heard.includes("after"));
    expect(heard).toEqual(["after"]);
  });

  test.each([
    "select pg_advisory_lock(4711)",
    "select count(pg_try_advisory_xact_lock(n)) from generate_series(1, 100000) n",
    'select "pg_advisory_xact_lock_shared"(1, 2)',
    "select pg_catalog.PG_TRY_ADVISORY_LOCK(7301001)",
  ])("no advisory lock: %s", async (statement) => {
    const { stdout, code } = await desk.run("sql", statement, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ error_code: "SQL_ERROR" });
    expect(code).toBe(1);
  });

  test("nor has its role the right to take one or to write a message to the log, or sees the locks of the workers", async () => {
    const asReader = (statement: string) =>
      desk.database.transaction(async (db) => {
        await db.query("set local role nightdesk_reader");
        return db.query(statement);
      });
    for (const statement of [
      "select pg_advisory_lock(1)",
      "select pg_try_advisory_xact_lock_shared(1, 2)",
      "select pg_advisory_unlock_all()",
      "select pg_logical_emit_message(false, 'x', 'y')",
      "select pg_logical_emit_message(true, 'x', 'y'::bytea)",
      "select * from nightdesk_data.locks for update",
      "lock table nightdesk_migrations.applied",
    ]) {
      await expect(asReader(statement)).rejects.toMatchObject({ code: "42501" });
    }
    const may = `select count(*)::int as n from pg_proc
      where proname ~ '^pg_.*(advisory|logical_emit)' and has_function_privilege('nightdesk_reader', oid, 'execute')`;
    expect(await rowsOf(desk.database, may)).toEqual([{ n: 0 }]);
  });

  test("what it waits for, and what waits for it, has an end", async () => {
    for (const [name, value] of [
      ["lock_timeout", "5s"],
      ["statement_timeout", "30s"],
      ["idle_in_transaction_session_timeout", "30s"],
    ] as const) {
      expect(await json(`show ${name}`)).toEqual([{ [name]: value }]);
    }
  });

  test("a second role is none to go back to", async () => {
    expect(
      await json(
        "select current_user as role, current_setting('transaction_read_only') as read_only",
      ),
    ).toEqual([{ role: "nightdesk_reader", read_only: "on" }]);
  });
});

test("views of what a batch did name it, and results the file", async () => {
  const file = await desk.write(
    "path.jsonl",
    `{"kind":"summarize","path":"allowed/corpus/a.md"}\n`,
  );
  await desk.run("enqueue", file, "--batch-name", "files");
  expect(await json("select path from results where batch = 'files'")).toEqual([
    { path: "allowed/corpus/a.md" },
  ]);
  expect(await json("select path from results where batch = 'sql' limit 1")).toEqual([
    { path: null },
  ]);
  for (const view of ["evidence", "tool_calls", "model_calls", "steps"])
    expect(await json(`select batch_id from ${view} where batch = 'files'`)).toEqual([]);
});

describe("a statement that the server does not understand", () => {
  test("is shown with a caret at the place", async () => {
    const { stderr, code } = await desk.run("sql", "select\n\t'ü', nope from results");
    expect(stderr).toContain(
      `column "nope" does not exist\n  \t'ü', nope from results\n  \t     ^`,
    );
    expect(code).toBe(1);
  });

  test("names the columns of the views that it reads when it asks for another", async () => {
    const { stderr } = await desk.run(
      "sql",
      "select h.batch, nope from batch_holds h join watches on true",
    );
    expect(stderr).toContain(
      "batch_holds has: batch_id, batch, reason, detail, began_at, ended_at, times, held_ms.\n  watches has: source,",
    );
    expect(stderr).not.toContain("results has:");
  });

  test("names the views when it asks for another", async () => {
    const { stderr } = await desk.run("sql", "select * from result");
    expect(stderr).toContain(
      "The views are: action_items, approvals, artifacts, audits, batch_holds, batch_progress, budgets, checks, chunks, claims, classifications, constraints, coverage, documents, doubtful_figures, evidence, exams, failures, field_bindings, figures, grants, hooks, host_models, host_nights, hosts, memory, model_calls, moves, ocr_pages, operator_actions, people_and_dates, queries, quotes, reasoning, remote_files, results, reviews, run_events, runs, schedules, stage_costs, steps, summary_parts, throughput, tool_calls, watched_files, watches, workers, write_backs.",
    );
  });

  test("has as much time as a timer can count", async () => {
    const { stdout } = await desk.run("sql", "select 7 as n", "--timeout", "999999999", "--json");
    expect(JSON.parse(stdout)).toEqual([{ n: 7 }]);
  });

  test("is stopped when its time is up", async () => {
    const { stderr, code } = await desk.run("sql", "select pg_sleep(60)", "--timeout", "1");
    expect(stderr).toContain("SQL_ERROR: The statement took too long");
    expect(code).toBe(1);
  });
});

test("a database that is not there is exit 69", async () => {
  const { code, stdout } = await desk.run(
    "sql",
    "select 1",
    "--json",
    "--config",
    await elsewhere(),
  );
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error_code: "DATABASE_UNREACHABLE" });
  expect(code).toBe(69);
});

const elsewhere = () =>
  desk.write(
    "elsewhere.yaml",
    "extends: nightdesk:default\ndatabase: { url: 'postgres://nobody@127.0.0.1:1/none' }\n",
  );
