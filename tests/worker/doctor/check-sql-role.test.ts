import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openDatabase } from "../../../src/shared/store/connection/database.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { migrate } from "../../../src/shared/store/migrate.ts";
import { checkSqlRole } from "../../../src/worker/doctor/check-tools.ts";
import { databases } from "../../conformance/topologies.ts";
import { queryServer } from "../../support/templates.ts";

const serverUrl = process.env["TEST_DATABASE_URL"] ?? "";

(databases.includes("postgres") ? describe : describe.skip)("a role that is no superuser", () => {
  const name = `nightdesk_plain_${randomBytes(6).toString("hex")}`;
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` });
  let database: Database;
  beforeAll(async () => {
    await queryServer(serverUrl, "create role nightdesk_reader nologin").catch(() => undefined);
    await queryServer(serverUrl, `create role ${name} login password '${name}'`);
    await queryServer(serverUrl, `grant nightdesk_reader to ${name} with admin option`);
    await queryServer(serverUrl, `create database ${name} owner ${name}`);
    await queryServer(url.href, "create extension vector");
    database = openDatabase({
      target: {
        kind: "url",
        url: Object.assign(new URL(url), { username: name, password: name }).href,
      },
      maxConnections: 1,
      statements: "query",
      onError: () => undefined,
    });
    await database.transaction((db) => migrate(db, join(resolve("."), "migrations")));
  });
  afterAll(async () => {
    await database.end();
    await queryServer(serverUrl, `drop database ${name} with (force)`);
    await queryServer(serverUrl, `drop role ${name}`);
  });

  const callByReader = () =>
    database.transaction(async (db) => {
      await db.query("set transaction read only");
      await db.query("set local role nightdesk_reader");
      return db.query("select pg_logical_emit_message(false, 'x', 'y')");
    });

  test("migrates, can revoke nothing from everybody, and doctor says so", async () => {
    await expect(callByReader()).resolves.toMatchObject({ rowCount: 1 });
    expect(await checkSqlRole(database)).toMatchObject({
      level: "warn",
      code: "DOCTOR_SQL_ROLE_UNGUARDED",
      message: expect.stringMatching(/pg_advisory_lock.*pg_logical_emit_message/),
    });
  });

  test("has the right revoked by a superuser with the statement of docs/many-machines.md", async () => {
    const text = await readFile("docs/many-machines.md", "utf8");
    const [statement = ""] = /do \$\$.*?end \$\$;/s.exec(text) ?? [];
    await queryServer(url.href, statement.replaceAll("to nightdesk'", `to ${name}'`));
    await expect(callByReader()).rejects.toMatchObject({ code: "42501" });
    expect(await checkSqlRole(database)).toMatchObject({ level: "ok", code: "DOCTOR_SQL_ROLE_OK" });
    await database.query("select pg_advisory_xact_lock(1)");
  });
});
