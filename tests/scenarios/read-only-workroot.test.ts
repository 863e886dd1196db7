import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";

/** To root nothing is read-only: root lends the command the account `nobody`, if that can read Nightdesk. */
function findUser(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(spawnSync("id", [flag, "nobody"]).stdout);
  const user = { uid: idOf("-u"), gid: idOf("-g") };
  const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");
  const { status } = spawnSync(process.execPath, ["--check", bin], user);
  return status === 0 ? user : undefined;
}

const user = findUser();
const [describeAs, reason] =
  user === undefined
    ? [describe.skip, ": root may write everywhere, and `nobody` can't read Nightdesk's folder"]
    : [describe, ""];

let scratch: string;
let workroot: string;
let home: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "nightdesk-read-only-"));
  await chmod(scratch, 0o755);
  [workroot, home] = [join(scratch, "documents"), join(scratch, "home")];
  await mkdir(join(workroot, "notes"), { recursive: true });
  await writeFile(join(workroot, "notes", "ferry.md"), "# Ferry\n\nThe ferry leaves at 7:40.\n");
  await writeFile(
    join(workroot, "nightdesk.yaml"),
    "extends: nightdesk:embedded\nsecurity: { allowed_roots: [notes] }\n" +
      "index: { sources: [{ name: notes, root: notes }] }\n",
  );
  await mkdir(home);
  for (const folder of [home, workroot])
    if (user?.uid !== undefined) await chown(folder, user.uid, user.gid ?? user.uid);
  await chmod(workroot, 0o555);
});
afterEach(async () => {
  for (const directory of await stateFolders()) await stopEmbedded(directory);
  await chmod(workroot, 0o755);
  await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

async function stateFolders(): Promise<string[]> {
  const folder = join(home, ".local", "state", "nightdesk");
  const names = existsSync(folder) ? await readdir(folder) : [];
  return [...names.map((name) => join(folder, name)), join(workroot, ".nightdesk")];
}

const run = (words: readonly string[], env: Readonly<Record<string, string>> = { HOME: home }) =>
  runBin(words, { cwd: workroot, env, ...user });

const failureOf = (ended: Ended): Record<string, unknown> => ({
  code: ended.code,
  ...jsonLine(ended),
});

describeAs(`a work root that can't be written${reason}`, () => {
  test("has its database in a folder of the user's, which all commands agree on and name", async () => {
    const indexed = await run(["index"]);
    const [, folder = ""] =
      /^The database is kept in (\S+), because the work root/.exec(indexed.stderr) ?? [];
    expect(indexed.code).toBe(0);
    expect(folder).toMatch(new RegExp(`^${home}/.local/state/nightdesk/[0-9a-f]{16}$`));
    const asked = await run(["ask", "When does the ferry leave?", "--wait", "--json"]);
    expect(jsonLine(asked)).toMatchObject({ ok: true, state: "succeeded" });
    expect(await readFile(join(folder, "worker.log"), "utf8")).toContain(folder);
    const listed = await run(["batch", "list", "--all", "--json"]);
    expect(JSON.parse(listed.stdout)).toHaveLength(2);
    const config = JSON.parse((await run(["config", "show", "--json"])).stdout) as unknown;
    expect(config).toMatchObject({ roots: { databaseDirectory: folder } });
    expect((await run(["doctor", "--no-ollama"])).code).toBe(0);
    expect(await readdir(workroot)).toEqual(["nightdesk.yaml", "notes"]);

    // It stays there when the work root can be written, and gives way to one that is there.
    await chmod(workroot, 0o755);
    const later = await run(["batch", "list", "--all", "--json"]);
    expect(JSON.parse(later.stdout)).toHaveLength(2);
    await mkdir(join(workroot, ".nightdesk"));
    const own = failureOf(await run(["batch", "list", "--json"]));
    expect(own["error_message"]).toContain(join(workroot, ".nightdesk"));
  }, 120_000);

  test("has it below XDG_STATE_HOME where that is set", async () => {
    const env = { HOME: "/nonexistent", XDG_STATE_HOME: join(home, ".local", "state") };
    const { code, stderr } = await run(["migrate"], env);
    expect(stderr).toContain(`The database is kept in ${env.XDG_STATE_HOME}/nightdesk/`);
    expect(code).toBe(0);
  });

  test.each([
    ["the home folder can't be written either", { HOME: "/nonexistent" }, "/nonexistent/"],
    ["there is no home folder", {}, "documents/.nightdesk"],
  ])("says database.directory where %s", async (_, env, place) => {
    const ended = failureOf(await run(["index", "--json"], env));
    expect(ended).toMatchObject({ code: 78, error_code: "CONFIG_ERROR" });
    expect(ended).toMatchObject({ error_message: expect.stringContaining("database.directory") });
    expect(ended).toMatchObject({ error_message: expect.stringContaining(place) });
  });

  test("and has no folder of the shipped configuration says which to name", async () => {
    await chmod(workroot, 0o755);
    await rm(join(workroot, "nightdesk.yaml"));
    await chmod(workroot, 0o555);
    const ended = failureOf(await run(["index", "--json", "--config", "nightdesk:embedded"]));
    expect(ended).toMatchObject({ code: 78, error_code: "CONFIG_ERROR" });
    expect(ended).toMatchObject({
      error_message: expect.stringMatching(
        /allowed root ".*" can't be created .*security.allowed_roots/,
      ),
    });
    // Nobody starts a second worker, which would say the same.
    const [folder = ""] = await stateFolders();
    expect(
      (await readFile(join(folder, "worker.log"), "utf8")).match(/CONFIG_ERROR/g),
    ).toHaveLength(1);
  }, 60_000);
});
