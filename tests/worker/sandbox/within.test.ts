import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { BoundSandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import type { SecurityPolicy } from "../../../src/worker/sandbox/policy.ts";
import { makeWorkroot, type Workroot } from "./make-workroot.ts";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/open/a.md");
  root.write("allowed/open/plan.md");
  root.write("allowed/secret/vault.md");
  root.write("allowed/secret/plan.md");
  root.write("allowed/open-later/b.md");
  symlinkSync("../secret/vault.md", join(root.work, "allowed/open/file-link.md"));
  symlinkSync("../secret", join(root.work, "allowed/open/link"));
});
afterEach(() => {
  root.remove();
});

const within = async (
  changes: Partial<SecurityPolicy> = {},
  prefixes = ["allowed/open/"],
): Promise<BoundSandbox> => (await root.open(changes)).within(prefixes);

const read = async (sandbox: BoundSandbox, path: string) =>
  sandbox.readTextFile({ path, maxChars: 1_000 });

test("a job reads what begins with its prefix, by path and by name", async () => {
  const sandbox = await within();
  for (const path of ["allowed/open/a.md", "open/a.md", "a.md"]) {
    expect(await read(sandbox, path)).toMatchObject({ kind: "read", path: "allowed/open/a.md" });
  }
  // Elsewhere there is another of that name.
  expect(await read(sandbox, "plan.md")).toMatchObject({ path: "allowed/open/plan.md" });
});

test.each([
  ["allowed/secret/vault.md", "PATH_DENIED"],
  ["secret/vault.md", "PATH_DENIED"],
  ["allowed/open/../secret/vault.md", "PATH_DENIED"],
  ["allowed/open/file-link.md", "PATH_DENIED"],
  ["allowed/open/link/vault.md", "PATH_DENIED"],
  ["file-link.md", "PATH_DENIED"],
  ["allowed/open-later/b.md", "PATH_DENIED"],
  ["vault.md", "FILE_NOT_FOUND"],
  ["b.md", "FILE_NOT_FOUND"],
])("a job reads nothing else, whatever names it: %s", async (path, code) => {
  for (const changes of [{}, { allowAnyPath: true }]) {
    const sandbox = await within(changes);
    expect(await read(sandbox, path)).toMatchObject({ kind: "refused", code });
    expect(await sandbox.locate(path)).toMatchObject({ kind: "refused", code });
    expect(await sandbox.openFile({ path })).toMatchObject({ kind: "refused", code });
  }
});

test("outside of its prefix a job can't tell what is there from what is not", async () => {
  const sandbox = await within();
  const refusals = await Promise.all(
    ["vault.md", "fault.md", "allowed/secret/vault.md", "allowed/secret/fault.md"].map((path) =>
      read(sandbox, path),
    ),
  );
  const told = refusals.map((reading) => JSON.stringify(reading).replaceAll(/[fv]ault/g, "x"));
  expect(new Set(told).size).toBe(2);
  expect(told.join()).not.toContain("Did you mean");
});

test("a job is listed what begins with its prefix", async () => {
  const sandbox = await within();
  const listed = ["allowed/open/a.md", "allowed/open/file-link.md", "allowed/open/plan.md"];
  expect(await sandbox.listPaths()).toEqual(listed);
  expect(await sandbox.listPathsNow()).toEqual({ paths: listed, isWhole: true });
  expect(await sandbox.listPaths()).toBe(await sandbox.listPaths());
});

test("a document that is a link out of the prefix is known as one", async () => {
  const sandbox = await within();
  expect(
    ["a.md", "file-link.md", "gone.md"].map((name) => sandbox.leadsOut(`allowed/open/${name}`)),
  ).toEqual([false, true, false]);
});

test("several prefixes are one grant", async () => {
  const sandbox = await within({}, ["allowed/open/", "allowed/secret/plan.md"]);
  expect(await read(sandbox, "allowed/secret/plan.md")).toMatchObject({ kind: "read" });
  expect(await read(sandbox, "allowed/secret/vault.md")).toMatchObject({ code: "PATH_DENIED" });
  expect(await read(sandbox, "plan.md")).toMatchObject({ code: "AMBIGUOUS_PATH" });
});
