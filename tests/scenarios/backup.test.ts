import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { launcher, set, startServer } from "../embedded/embedded-server.ts";
import type { EmbeddedServer } from "../embedded/embedded-server.ts";

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

async function restore(
  file: string,
  { directory = server.directory, flags = ["--force"] } = {},
): Promise<{ status: number | null; messages: string }> {
  const args = ["database", "--directory", directory, "--restore", file, ...flags];
  const child = spawn(process.execPath, [launcher, ...args]);
  let messages = "";
  child.stderr.on("data", (chunk: Buffer) => (messages += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, messages };
}

/** What somebody else could read, or not even we, with its mode. */
async function openToOthers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const modes = await Promise.all(
    ["", ...names].map(async (name) => {
      const found = await lstat(path.join(folder, name));
      const expected = found.isDirectory() ? 0o700 : 0o600;
      const mode = found.mode & 0o777;
      return mode === expected ? [] : [`${name} ${mode.toString(8)}`];
    }),
  );
  return modes.flat();
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
    expect(names.filter((name) => name.startsWith("pgdata.replaced-"))).toHaveLength(1);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("a backup replaces nothing unless it is told to, and follows no link", async () => {
    const folder = path.join(server.directory, "dumps");
    await mkdir(folder);
    const [file, outside] = [path.join(folder, "dump.tar.gz"), path.join(folder, "outside")];
    await writeFile(outside, "theirs");
    const client = await server.connect();
    for (const there of ["file", "link"] as const) {
      await rm(file, { force: true });
      if (there === "link") await symlink(outside, file);
      else await writeFile(file, "theirs", { mode: 0o666 });
      await expect(client.query(`nightdesk backup '${file}'`)).rejects.toMatchObject({
        code: "58P02",
      });
      expect(await readFile(file, "utf8")).toBe("theirs");
      await client.query(`nightdesk backup replace '${file}'`);
      expect((await lstat(file)).isFile()).toBe(true);
      expect((await lstat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(outside, "utf8")).toBe("theirs");
    }
    expect((await readdir(folder)).sort()).toEqual(["dump.tar.gz", "outside"]);
  });

  test("a file under the name that a dump once had until it was complete is left alone", async () => {
    const file = path.join(server.directory, "guessed.tar.gz");
    const outside = path.join(server.directory, "guessed-outside");
    await writeFile(outside, "theirs");
    const client = await server.connect();
    await symlink(outside, `${file}.${await server.pid()}.tmp`);
    await client.query(`nightdesk backup '${file}'`);
    expect(await readFile(outside, "utf8")).toBe("theirs");
    expect((await lstat(file)).isFile()).toBe(true);
  });

  test("the data belongs to this user alone, also where a copy had opened it to others", async () => {
    const client = await server.connect();
    await client.query("create table public.kept as select generate_series(1, 1000) as it");
    await client.query("checkpoint");
    expect(await openToOthers(path.join(server.directory, "pgdata"))).toEqual([]);
    await stopEmbedded(server.directory);
    expect(await openToOthers(path.join(server.directory, "pgdata"))).toEqual([]);
    await chmod(path.join(server.directory, "pgdata"), 0o755);
    await chmod(path.join(server.directory, "pgdata", "PG_VERSION"), 0o644);
    await server.connect();
    expect(await openToOthers(path.join(server.directory, "pgdata"))).toEqual([]);
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

  test("a dump takes no memory that grows with the data, and leaves no copy behind", async () => {
    const client = await server.connect();
    await client.query(
      "create table public.kept as select repeat(md5(it::text), 60) as it from generate_series(1, 60000) it",
    );
    const status = `/proc/${await server.pid()}`;
    const peak = async () =>
      Number(/^VmHWM:\s+(\d+)/m.exec(await readFile(`${status}/status`, "utf8"))?.[1]) / 1024;
    // Begins the peak anew.
    await writeFile(`${status}/clear_refs`, "5");
    const before = await peak();
    await client.query("nightdesk checkpoint");
    expect((await peak()) - before).toBeLessThan(60);
    expect((await readdir(server.directory)).filter((name) => name.includes("copy"))).toEqual([]);
  });

  test("a restore reads a tar of another program, compressed or not", async () => {
    const client = await server.connect();
    await client.query("create table public.kept (it text); insert into public.kept values ('a')");
    await stopEmbedded(server.directory);
    for (const [flags, name] of [
      ["-czf", "theirs.tar.gz"],
      ["-cf", "theirs.tar"],
    ] as const) {
      const file = path.join(server.directory, name);
      const { status } = spawnSync("tar", [flags, file, "-C", `${server.directory}/pgdata`, "."]);
      expect(status).toBe(0);
      expect(await restore(file)).toMatchObject({ status: 0 });
      expect(await kept()).toEqual([{ it: "a" }]);
      await stopEmbedded(server.directory);
    }
  });

  test("a restore replaces a database only where it is told to", async () => {
    const { status, messages } = await restore(server.directory, { flags: [] });
    expect(messages).toMatch(/^INPUT_INVALID: There is a database in .* already\. Give --force/);
    expect(status).toBe(1);
  });

  test.each([
    ["no dump", "it is cut short"],
    ["cut short", "unexpected end of file"],
    ["damaged", "is not a dump that opens"],
    ["without a database", "PG_VERSION is missing"],
    ["of data that does not open", "is not a dump that opens"],
  ])("a restore of a file that is %s changes nothing and leaves nothing", async (what, reason) => {
    const client = await server.connect();
    await client.query("create table public.kept (it text); insert into public.kept values ('a')");
    const file = path.join(server.directory, "refused.tar.gz");
    await client.query(`nightdesk backup replace '${file}'`);
    await stopEmbedded(server.directory);
    await spoil(file, what);
    const before = await readdir(server.directory);
    const { status, messages } = await restore(file);
    expect(messages).toContain(reason);
    expect(messages).toContain("Nothing was changed");
    expect(status).toBe(1);
    expect(await readdir(server.directory)).toEqual(before);

    const elsewhere = path.join(server.directory, "a", "b");
    expect(await restore(file, { directory: elsewhere })).toMatchObject({ status: 1 });
    expect(existsSync(path.dirname(elsewhere))).toBe(false);
    expect(await kept()).toEqual([{ it: "a" }]);
  });

  test("a restore that this version can't migrate changes nothing and leaves nothing", async () => {
    const client = await server.connect();
    const file = path.join(server.directory, "newer.tar.gz");
    await client.query(`nightdesk backup '${file}'`);
    await stopEmbedded(server.directory);
    const directory = await mkdtemp(path.join(tmpdir(), "nightdesk-embedded-"));
    await set(directory, { migrationFails: true });
    const { status, messages } = await restore(file, { directory });
    expect({ status, messages }).toEqual({
      status: 1,
      messages: "undefined: the test's migration fails\n",
    });
    expect(await readdir(directory)).toEqual(["lock", "test-settings.json"]);
    await rm(directory, { recursive: true });
  });

  test("what a killed dump or restore left behind is gone after the next start", async () => {
    await stopEmbedded(server.directory);
    const left = [".pgdata-copy-a1B2c3", "pgdata.restored.partial", "pgdata.restored"];
    for (const name of [...left, "pgdata-copy", "dump-2026"])
      await mkdir(path.join(server.directory, name));
    await server.connect();
    const names = await readdir(server.directory);
    expect(names.filter((name) => left.includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(["pgdata-copy", "dump-2026"]));
  });

  test("a restore of a database in use is refused", async () => {
    await server.connect();
    const { status, messages } = await restore(path.join(server.directory, "lock"));
    expect(status).toBe(1);
    expect(messages).toContain("is in use");
  });
});

/** Makes a dump one that can't be restored. */
async function spoil(file: string, how: string): Promise<void> {
  const dump = await readFile(file);
  switch (how) {
    case "no dump":
      return writeFile(file, "no dump");
    case "cut short":
      return writeFile(file, dump.subarray(0, dump.length / 2));
    case "damaged":
      return writeFile(file, dump.fill(0, dump.length >> 1, (dump.length >> 1) + 1_000));
  }
  const folder = await mkdtemp(path.join(tmpdir(), "nightdesk-spoilt-"));
  spawnSync("tar", ["-xzf", file, "-C", folder]);
  if (how === "without a database") await rm(path.join(folder, "PG_VERSION"));
  else await writeFile(path.join(folder, "global", "pg_control"), "");
  spawnSync("tar", ["-czf", file, "-C", folder, "."]);
  await rm(folder, { recursive: true });
}
