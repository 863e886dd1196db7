import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { makeScratch, packageRoot } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
  for (const name of ["flag", "env", "conf/own", "run"]) {
    await mkdir(join(scratch.folder, name), { recursive: true });
  }
});
afterEach(() => scratch.remove());

describe("the work root", () => {
  test.each([
    ["the flag", { flag: "flag", env: "env", key: "own" }, "flag"],
    ["the environment", { env: "env", key: "own" }, "env"],
    ["the key, from the folder of the file", { key: "own" }, "conf/own"],
    ["the folder of the file that was found", {}, "conf"],
    ["the next where one is blank", { flag: " ", env: "", key: "own" }, "conf/own"],
  ])(
    "is that of %s",
    async (_name, given: { flag?: string; env?: string; key?: string }, expected) => {
      const content = given.key === undefined ? "" : `workroot: ${given.key}\n`;
      await scratch.write("conf/nightdesk.yaml", content);
      const at = (name: string | undefined) =>
        name?.trim() === "" ? name : name && join(scratch.folder, name);
      const flag = at(given.flag);
      const { roots } = await scratch.load({
        cwd: join(scratch.folder, "conf"),
        flags: flag === undefined ? {} : { workroot: flag },
        env: { NIGHTDESK_WORKROOT: at(given.env) },
      });
      expect(roots.workroot).toBe(join(scratch.folder, expected));
      expect(roots.configRoot).toBe(join(scratch.folder, "conf"));
    },
  );

  test("is the current folder where the file was named and does not say", async () => {
    const config = await scratch.write("conf/my.yaml", "");
    const cwd = join(scratch.folder, "run");
    expect((await scratch.load({ cwd, flags: { config } })).roots.workroot).toBe(cwd);
    expect((await scratch.load({ cwd })).roots.workroot).toBe(cwd);
  });

  test("of the shipped configuration is never the package", async () => {
    const message = await scratch.loadError({ cwd: packageRoot });
    expect(message).toMatch(
      /^current folder: the work root would be Nightdesk's own package folder/,
    );
    expect(message).toContain("--workroot DIR");
    const elsewhere = await scratch.load({ cwd: packageRoot, flags: { workroot: scratch.folder } });
    expect(elsewhere.roots.workroot).toBe(scratch.folder);
  });

  test("counts from the current folder in flag and environment", async () => {
    expect((await scratch.load({ flags: { workroot: "flag" } })).roots.workroot).toBe(
      join(scratch.folder, "flag"),
    );
    const { workroot } = (await scratch.load({ env: { NIGHTDESK_WORKROOT: "./env/" } })).roots;
    expect(workroot).toBe(join(scratch.folder, "env"));
  });

  test("of a file may begin with the home folder", async () => {
    await scratch.write("nightdesk.yaml", "workroot: ~/conf/own\n");
    const { roots } = await scratch.load({ env: { HOME: scratch.folder } });
    expect(roots.workroot).toBe(join(scratch.folder, "conf/own"));
  });

  test("that is not there is an error with its origin and the remedy", async () => {
    await scratch.write("nightdesk.yaml", "log: { level: info }\nworkroot: gone\n");
    expect(await scratch.loadError()).toBe(
      `nightdesk.yaml:2:1: the work root "${join(scratch.folder, "gone")}" does not exist; create it, or name ` +
        "another with --workroot DIR or NIGHTDESK_WORKROOT",
    );
    await scratch.write("file", "");
    expect(await scratch.loadError({ flags: { workroot: "file" } })).toMatch(
      /^flag --workroot: the work root ".*" is no folder/,
    );
  });
});

describe("the database directory", () => {
  test.each([
    [undefined, ".nightdesk"],
    ["data/db", "data/db"],
    ["/var/lib/nd", "/var/lib/nd"],
  ])("written %j lies in the work root unless it is absolute", async (directory, expected) => {
    const content = directory === undefined ? "" : `database: { directory: ${directory} }`;
    await scratch.write("nightdesk.yaml", content);
    const { databaseDirectory } = (await scratch.load()).roots;
    expect(databaseDirectory).toBe(
      expected.startsWith("/") ? expected : join(scratch.folder, expected),
    );
  });
});
