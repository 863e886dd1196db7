import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { makeFoldersInWorkroot, writeFileInWorkroot } from "../../../src/producer/workroot-file.ts";
import { openDesk } from "../desk.ts";
import type { Desk, Ran } from "../desk.ts";

let desk: Desk;
let outside: string;
beforeAll(async () => {
  desk = await openDesk();
  outside = await mkdtemp(join(tmpdir(), "nightdesk-outside-"));
  await desk.run("memory", "add", "first", "--type", "preference");
  await desk.run("memory", "add", "second", "--type", "user_fact");
  await mkdir(at("out"));
  await mkdir(at(".nightdesk"));
  await symlink(outside, at("away"));
  await symlink(at("out"), at("alias"));
  await symlink(join(outside, "planted.json"), at("planted.json"));
});
afterAll(async () => {
  await desk.dispose();
  await rm(outside, { recursive: true });
});
beforeEach(() => rm(at("notes.json"), { force: true }));

const at = (path: string): string => join(desk.workroot, path);
const exportTo = (...words: readonly string[]): Promise<Ran> =>
  desk.run("memory", "export", ...words, "--json");
const failureOf = ({ code, stdout }: Ran) => ({
  code,
  ...(JSON.parse(stdout) as { error_code: string; error_message: string }),
});
/** Partial files would show here. */
const namesIn = async (path: string) => (await readdir(at(path))).sort();

describe("memory export", () => {
  test("writes every note in the order of writing, for this user alone", async () => {
    const { code, stdout } = await exportTo("notes.json");
    expect({ code, printed: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      printed: { ok: true, file: "notes.json", items: 2 },
    });
    expect((await lstat(at("notes.json"))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(at("notes.json"), "utf8"))).toEqual({
      schema_version: 1,
      exported_at: expect.stringMatching(/^\d{4}-.*Z$/),
      items: ["first", "second"].map((content) => ({
        memory_id: expect.any(String),
        type: content === "first" ? "preference" : "user_fact",
        source: "manual",
        content,
        chunk_keys: [],
        dangling_keys: [],
        created_at: expect.any(String),
      })),
    });
  });

  test("prints the path from the work root, also for an absolute one", async () => {
    const { stdout, stderr } = await desk.run("memory", "export", at("out/notes.json"));
    expect({ stdout, stderr }).toEqual({
      stdout: "out/notes.json\n",
      stderr: "Exported 2 notes.\n",
    });
    expect(await namesIn("out")).toEqual(["notes.json"]);
  });

  test("replaces a file only with --force, and then as a whole, with mode 0600", async () => {
    await desk.write("notes.json", "mine");
    await chmod(at("notes.json"), 0o644);
    const kept = failureOf(await exportTo("notes.json"));
    expect(kept).toMatchObject({ code: 1, error_code: "INPUT_INVALID" });
    expect(kept.error_message).toContain("Give --force to replace it");
    expect(await readFile(at("notes.json"), "utf8")).toBe("mine");
    expect((await exportTo("notes.json", "--force")).code).toBe(0);
    expect(await readFile(at("notes.json"), "utf8")).toContain('"schema_version": 1');
    expect((await lstat(at("notes.json"))).mode & 0o777).toBe(0o600);
    expect((await namesIn(".")).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  test.each([
    ["../notes.json", "lies outside of the work root"],
    ["out/../../notes.json", "lies outside of the work root"],
    [join(tmpdir(), "notes.json"), "lies outside of the work root"],
    ["away/notes.json", "leads through a symbolic link"],
    ["alias/notes.json", "leads through a symbolic link"],
    ["planted.json", "leads through a symbolic link"],
    [".nightdesk/notes.json", "lies in the folder of the database"],
    [".nightdesk", "lies in the folder of the database"],
    [".nightdesk/deeper/notes.json", "lies in the folder of the database"],
    ["out/.nightdesk/notes.json", "lies in the folder of the database"],
  ])("to %s is denied, with --force as without", async (path, words) => {
    for (const flags of [[], ["--force"]]) {
      const denied = failureOf(await exportTo(path, ...flags));
      expect(denied).toMatchObject({ code: 4, error_code: "PATH_DENIED" });
      expect(denied.error_message).toContain(words);
    }
    const plain = await desk.run("memory", "export", path);
    expect(plain).toMatchObject({ code: 4, stdout: "" });
    expect(plain.stderr).toContain("PATH_DENIED: ");
    expect(await readdir(outside)).toEqual([]);
    expect(await readdir(at(".nightdesk"))).toEqual([]);
  });

  test("does not enter the database's folder by another name", async () => {
    await mkdir(at("store"), { recursive: true });
    await symlink(at("store"), at("db"));
    const denied = await writeFileInWorkroot(
      {
        file: "store/notes.json",
        cwd: desk.workroot,
        roots: { workroot: desk.workroot, databaseDirectory: at("db") },
      },
      "keep",
      "x",
    );
    expect(denied).toMatchObject({ kind: "refused", code: "PATH_DENIED" });
    expect(await readdir(at("store"))).toEqual([]);
  });

  test.each([
    [".", "is the work root itself"],
    ["out", "is no regular file"],
    ["nowhere/notes.json", "names a folder that does not exist"],
    ["nightdesk.yaml/notes.json", "can't be written"],
    ["n".repeat(300), "can't be written"],
  ])("to %s says what is wrong", async (path, words) => {
    const failure = failureOf(await exportTo(path, "--force"));
    expect(failure).toMatchObject({ code: 1, error_code: "INPUT_INVALID" });
    expect(failure.error_message).toContain(words);
  });

  test("of many at once to one name leaves one whole file", async () => {
    const request = {
      file: "out/race.json",
      cwd: desk.workroot,
      roots: { workroot: desk.workroot, databaseDirectory: at(".nightdesk") },
    };
    const texts = Array.from({ length: 20 }, (_, index) => `${String(index)} `.repeat(10_000));
    const ended = await Promise.allSettled(
      texts.map((text) => writeFileInWorkroot(request, "keep", text)),
    );
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(texts).toContain(await readFile(at("out/race.json"), "utf8"));
    expect((await namesIn("out")).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });
});

test("folders of an export are made for this user alone, and through no link", async () => {
  const seen = {
    cwd: desk.workroot,
    roots: { workroot: desk.workroot, databaseDirectory: at(".nightdesk") },
  };
  expect(await makeFoldersInWorkroot(at("new/deeper"), seen)).toBeUndefined();
  for (const made of ["new", "new/deeper"])
    expect((await lstat(at(made))).mode & 0o777).toBe(0o700);
  for (const denied of ["away/new", ".nightdesk/new"])
    expect(await makeFoldersInWorkroot(at(denied), seen)).toMatchObject({ code: "PATH_DENIED" });
  expect(await readdir(outside)).toEqual([]);
});
