import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openExportTargets } from "../../../src/producer/export/export-targets.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-targets-"));
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const open = (existing: "keep" | "replace") =>
  openExportTargets(
    { output: at("out.jsonl"), errors: at("errors.jsonl"), existing, whenEmpty: "leave out" },
    () => Promise.reject(new Error("nothing is for stdout")),
  );

test("an export without errors leaves no file of them, nor one of an export before", async () => {
  await writeFile(at("errors.jsonl"), "of an export before");
  const targets = await open("replace");
  await targets.sinks.output("a\n");
  expect(await readFile(at("errors.jsonl"), "utf8")).toBe("of an export before");
  await targets.commit({ output: 1, errors: 0, leftOut: 0 });
  expect(await readdir(folder)).toEqual(["out.jsonl"]);
  expect(await readFile(at("out.jsonl"), "utf8")).toBe("a\n");
  expect((await stat(at("out.jsonl"))).mode & 0o777).toBe(0o600);
});

test("an export that can't begin, or that breaks off, leaves all as it was", async () => {
  await writeFile(at("errors.jsonl"), "mine");
  await expect(open("keep")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await readdir(folder)).toEqual(["errors.jsonl"]);
  const targets = await open("replace");
  await targets.sinks.output("a\n");
  await targets.sinks.errors("b\n");
  await targets.discard();
  expect(await readdir(folder)).toEqual(["errors.jsonl"]);
  expect(await readFile(at("errors.jsonl"), "utf8")).toBe("mine");
});
