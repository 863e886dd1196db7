import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openDatabase } from "../../src/shared/store/connection/database.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { eventually } from "../conformance/signal.ts";
import { databases } from "../conformance/topologies.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { startFaultyTopology } from "./faulty-topology.ts";
import type { FaultyTopology } from "./faulty-topology.ts";

// What a server says when it gives no session, or no answer, decides what people are told to do.
(databases.includes("postgres") ? describe : describe.skip)("a server that gives", () => {
  let faulty: FaultyTopology;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    faulty = await startFaultyTopology("postgres");
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    faulty.database.pass();
  });
  afterAll(() => faulty.dispose());

  /** The configured URL with something else in it. */
  function urlWith(parts: Partial<Pick<URL, "username" | "pathname" | "search" | "port">>): string {
    return Object.assign(new URL(faulty.env["DATABASE_URL"] ?? ""), parts).href;
  }

  function open(url: string, statements: "lease" | "settle" = "lease"): Database {
    const db = openDatabase({
      target: { kind: "url", url },
      maxConnections: 1,
      statements,
      onError: () => undefined,
    });
    closers.push(() => db.end());
    return db;
  }

  const wordsOf = async (db: Database): Promise<string> =>
    db.query("select count(*) from nightdesk_data.jobs").then(
      () => "an answer",
      (error: unknown) => {
        const { code, message } = error as { code: string; message: string };
        return `${code}: ${message}`;
      },
    );

  test.each([
    ["57P03", "the database system is starting up", "The database server takes no connections yet"],
    ["57P01", "terminating connection", "The database server ended the connection"],
    ["53300", "sorry, too many clients already", "The database server has no connection left"],
    ["28P01", "password authentication failed", "The database refuses the login"],
    ["08P01", "unsupported startup parameter", "The database rejects the protocol of this client"],
    ["XX000", "something else", "The database gives no session"],
    ["53100", "could not write init file", "The disk is full"],
  ])("%s instead of a session is told by it: %s", async (code, message, words) => {
    faulty.database.answerFatal({ code, message });
    const told = await wordsOf(open(urlWith({})));
    expect(told).toContain(`${words} (${message})`);
    expect(told).not.toContain("that the server runs");
  });

  test.each([
    ["a user that it does not know", { username: "nobody" }, 'role "nobody" does not exist'],
    ["no database of that name", { pathname: "/nowhere" }, 'database "nowhere" does not exist'],
    ["no TLS", { search: "?sslmode=require" }, "does not support SSL"],
    ["nothing", { port: "1" }, "ECONNREFUSED"],
  ])("%s ends a command with 69, and doctor names it", async (_, parts, words) => {
    const place = { cwd: faulty.topology.workroot, env: { DATABASE_URL: urlWith(parts) } };
    const listed = await runBin(["batch", "list", "--json"], place);
    expect(jsonLine(listed)).toMatchObject({ error_code: "DATABASE_UNREACHABLE" });
    expect(jsonLine(listed)["error_message"]).toContain(words);
    expect(listed.code).toBe(69);
    const { stdout } = await runBin(["doctor", "--no-ollama"], place);
    expect(stdout).toMatch(new RegExp(`DOCTOR_DATABASE_UNREACHABLE: .*${words}`));
  });

  test("no answer, because of a lock, is told with who holds it, also by doctor", async () => {
    const { onlooker, topology, env } = faulty;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let pid = 0;
    const holder = onlooker.transaction(async (tx) => {
      await tx.query("lock table nightdesk_data.jobs");
      const { rows } = await tx.query("select pg_backend_pid() as pid");
      ({ pid } = rows[0] as { pid: number });
      await held;
    });
    closers.push(() => holder);
    closers.push(async () => {
      release();
    });
    await eventually("the table is locked", async () => pid > 0);
    const words = `waits for a lock that session ${pid} holds (user postgres, application nightdesk`;
    const told = await wordsOf(open(urlWith({})));
    expect(told).toContain(
      `DATABASE_UNREACHABLE: The database does not answer: a statement ${words}`,
    );
    expect(told).toContain(`select pg_terminate_backend(${pid})`);

    // Who gets no connection because all others of the process wait is told the same.
    const one = open(urlWith({}), "settle");
    const first = wordsOf(one);
    expect(await wordsOf(one)).toContain(words);

    const { stdout } = await runBin(["doctor", "--no-ollama"], { cwd: topology.workroot, env });
    expect(stdout).toContain("DOCTOR_DATABASE_UNREACHABLE: ");
    expect(stdout).toContain(words);
    expect(stdout).not.toContain("DOCTOR_NO_WORKER");
    release();
    expect(await first).toBe("an answer");
  }, 60_000);
});
