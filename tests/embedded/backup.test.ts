import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { stopEmbedded } from "../../src/shared/db/embedded-process.ts";
import { launcher, startServer } from "./embedded-server.ts";
import type { EmbeddedServer } from "./embedded-server.ts";

let server: EmbeddedServer;
beforeAll(async () => {
  server = await startServer();
});
beforeEach(async () => {
  const client = await server.connect();
  await client.query("drop table if exists public.kept");
  await rm(path.join(server.directory, "backups"), { recursive: true, force: true });
});
afterAll(() => server.dispose());

async function restore(file: string): Promise<{ status: number | null; messages: string }> {
  const args = ["database", "--directory", server.directory, "--restore", file];
  const child = spawn(process.execPath, [launcher, ...args]);
  let messages = "";
  child.stderr.on("data", (chunk: Buffer) => (messages += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, messages };
}

async function kept(): Promise<unknown[]> {
  const client = await server.connect();
  const { rows } = await client.query<{ it: string }>("select it from public.kept order by it");
  return rows;
}

describe("dumps", () => {
  test("a backup holds what was committed and is restored in its place", async () => {
    const file = path.join(server.directory, "it's a backup.tar.gz");
    const client = await server.connect();
    await client.query("create table public.kept (it text); insert into public.kept values ('a')");
    const { command } = await client.query(`nightdesk backup '${file.replaceAll("'", "''")}'`);
    expect(command).toBe("BACKUP");
    await client.query("insert into public.kept values ('later')");
    await stopEmbedded(server.directory);

    expect(await restore(file)).toMatchObject({ status: 0 });
    expect(await kept()).toEqual([{ it: "a" }]);
    const names = await readdir(server.directory);
    expect(names.filter((name) => name.startsWith("pgdata.broken-"))).toHaveLength(1);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("others are served while a dump is compressed, and the client's next statement waits", async () => {
    const file = path.join(server.directory, "backup.tar.gz");
    const [client, other] = [await server.connect(), await server.connect()];
    const answers: string[] = [];
    const asked = [
      client.query(`nightdesk backup '${file}'`).then(() => answers.push("backup")),
      client.query("select 1").then(() => answers.push("next")),
      other.query("select 1").then(() => answers.push("other")),
    ];
    await Promise.all(asked);
    expect(answers).toEqual(["other", "backup", "next"]);
  });

  test("checkpoints keep the last two, and nothing half-written", async () => {
    const client = await server.connect();
    for (let count = 0; count < 3; count++) await client.query("nightdesk checkpoint;");
    const names = await readdir(path.join(server.directory, "backups"));
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^\d{8}T\d{9}Z\.tar\.gz$/);
  });

  test("are refused inside a transaction", async () => {
    const client = await server.connect();
    await client.query("begin");
    await expect(client.query("nightdesk checkpoint")).rejects.toMatchObject({ code: "25001" });
    await client.query("rollback");
    expect(existsSync(path.join(server.directory, "backups"))).toBe(false);
  });

  test.each([
    ["nightdesk backup 'relative.tar.gz'", "42601"],
    ["nightdesk backup", "42601"],
    ["nightdesk dance", "42601"],
    ["nightdesk backup '/nowhere/at/all.tar.gz'", "58030"],
  ])("%s is refused and the connection goes on", async (sql, code) => {
    const client = await server.connect();
    await expect(client.query(sql)).rejects.toMatchObject({ code });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("a restore of what is no dump changes nothing", async () => {
    const file = path.join(server.directory, "none.tar.gz");
    await writeFile(file, "no dump");
    const client = await server.connect();
    await client.query("create table public.kept (it text); insert into public.kept values ('a')");
    await stopEmbedded(server.directory);
    const { status, messages } = await restore(file);
    expect(status).toBe(1);
    expect(messages).toContain("is not a dump that opens");
    expect(await kept()).toEqual([{ it: "a" }]);
  });

  test("a restore of a database in use is refused", async () => {
    await server.connect();
    const { status, messages } = await restore("any.tar.gz");
    expect(status).toBe(75);
    expect(messages).toContain("is in use");
  });
});
