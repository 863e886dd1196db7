import { join } from "node:path";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, expect, test } from "@jest/globals";
import { loadConfig } from "../../../src/shared/config/load-config.ts";

const packageRoot = join(import.meta.dirname, "..", "..", "..");
const cwd = mkdtempSync(join(tmpdir(), "nightdesk-config-"));
afterAll(() => {
  rmSync(cwd, { recursive: true });
});

const load = (watch: string) => {
  const yaml = `extends: ${join(packageRoot, "configs", "embedded.yaml")}
index:
  sources:
    - name: inbox
      root: allowed/inbox
      watch: ${watch}
`;
  writeFileSync(join(cwd, "nightdesk.yaml"), yaml);
  return loadConfig({ flags: {}, env: {}, cwd, packageRoot });
};

test("a watched source has a rhythm, a rest and rules", async () => {
  const { index } = await load(
    "{ rules: [{ match: '*.pdf', job: { kind: summarize }, move_to: done }] }",
  );
  expect(index.sources[0]?.watch).toEqual({
    every_s: 30,
    rest_s: 10,
    rules: [{ match: "*.pdf", job: { kind: "summarize" }, move_to: "done" }],
  });
});

test("where no rule classifies, a label is what a command gives", async () => {
  await expect(
    load("{ rules: [{ label: bill, job: { kind: summarize } }] }"),
  ).resolves.toBeDefined();
});

test.each([
  ["{ rules: [{ job: { kind: extract, preset: classify } }] }", /job is no job/],
  ["{ rules: [{ job: { kind: summarize, path: a.md } }] }", /job names a path/],
  ["{ rules: [{ job: { kind: chat } }] }", /kind/],
  [
    "{ rules: [{ job: { kind: ask, question: 'What does {path} say?' } }] }",
    /is no job: its text has \{path\}.*write "this file"/,
  ],
  ["{ rules: [{ job: { kind: investigate, question: 'What?' } }] }", /is no job: .*task/],
  ["{ rules: [{ match: '@(a|b)', job: { kind: summarize } }] }", /match holds a group/],
  ["{ rules: [{ job: { kind: summarize }, move_to: ../out }] }", /move_to does not lie below/],
  ["{ rules: [{ job: { kind: summarize }, move_to: /tmp }] }", /move_to does not lie below/],
  [
    "{ rules: [{ job: { kind: extract, preset: classify, labels: [bill, other] } }, { label: [bill, bil], job: { kind: summarize } }] }",
    /label names "bil", which no rule of this source gives/,
  ],
  [
    "{ rules: [{ label: bill, unclassified: true, job: { kind: summarize } }] }",
    /label stands beside unclassified/,
  ],
  ["{ rules: [{ unclassified: false, job: { kind: summarize } }] }", /unclassified/],
  ["{ often: 3 }", /often/],
])("%s is refused with the key", async (watch, message) => {
  await expect(load(watch)).rejects.toMatchObject({
    code: "CONFIG_ERROR",
    message: expect.stringMatching(message),
  });
});
