import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import type { Sandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import { extractText } from "../../support/read-documents.ts";
import { makeWorkroot, type Workroot } from "./make-workroot.ts";

const THEN = "as it was indexed";
const sha256 = hash("sha256", THEN, "hex");

let root: Workroot;
let sandbox: Sandbox;
let looked: number;
beforeEach(async () => {
  root = makeWorkroot();
  root.write("allowed/open/a.md", "as it is now");
  root.write("allowed/secret/b.md", "as it is now");
  looked = 0;
  sandbox = await openSandbox(root.policy(), extractText, {
    kept: async (asked) => {
      looked += 1;
      return asked === sha256 ? Buffer.from(THEN) : null;
    },
  });
});
afterEach(() => {
  sandbox.close();
  root.remove();
});

const read = (path: string, of: Pick<Sandbox, "readTextFile"> = sandbox, on = sha256) =>
  of.readTextFile({ path, sha256: on, lookup: "exact", maxChars: 1_000 });

test("what is on record of a file is read as it was, also where the file is gone", async () => {
  const then = { kind: "read", path: "allowed/open/a.md", text: THEN, sha256 };
  expect(await read("allowed/open/a.md")).toMatchObject(then);
  rmSync(join(root.work, "allowed/open/a.md"));
  expect(await read("allowed/open/a.md")).toMatchObject(then);
});

test("a file that holds what is on record is read itself, and one of which nothing is kept as it is", async () => {
  root.write("allowed/open/a.md", THEN);
  expect(await read("allowed/open/a.md")).toMatchObject({ text: THEN });
  expect(looked).toBe(0);
  expect(await read("allowed/secret/b.md", sandbox, "0".repeat(64))).toMatchObject({
    text: "as it is now",
  });
});

test("nothing is read out of what is kept that a job could not read as a file", async () => {
  const bound = sandbox.within(["allowed/open/"]);
  for (const path of [
    "allowed/secret/b.md",
    "allowed/secret/gone.md",
    "elsewhere/a.md",
    "allowed/open/a.exe",
  ])
    expect(await read(path, bound)).toMatchObject({ kind: "refused" });
  expect(await bound.openFile({ path: "allowed/secret/gone.md", sha256 })).toMatchObject({
    kind: "refused",
  });
  expect(looked).toBe(0);
});
