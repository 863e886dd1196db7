import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { EXIT } from "../../src/shared/commands/report-failure.ts";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { nativeLines } from "../../src/shared/enqueue/parse-line.ts";
import { KINDS, LINE_KINDS } from "../../src/shared/job/job.ts";
import { CODES } from "../../src/shared/failure.ts";
import { start } from "../deploy/spawned.ts";
import { blocksOf, readDoc, root, rowsOf, sectionOf } from "./read-doc.ts";

const errors = readDoc("docs/reference/errors.md");

describe("the reference", () => {
  test("has the tables that the code makes", async () => {
    const check = [process.execPath, join(root, "scripts", "write-reference.js"), "--check"];
    const ran = await start(check, { cwd: root, env: { NODE_NO_WARNINGS: "1" } }).ended;
    expect(ran).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("lists every error code with its outcome and meaning, in the order of the table", () => {
    const codes = Object.entries(CODES).map(([code, { outcome, meaning }]) => [
      code,
      outcome,
      meaning,
    ]);
    expect(rowsOf(sectionOf(errors, "Error codes"))).toEqual(codes);
  });

  test("lists every command that is not hidden, in the order of the help", () => {
    const commands = COMMANDS.filter(({ hidden }) => hidden !== true).map((command) => [
      [command.name, ...command.arguments.map(({ usage }) => usage)].join(" "),
      command.summary,
    ]);
    expect(rowsOf(sectionOf(readDoc("docs/reference/commands.md"), "Commands"))).toEqual(commands);
  });

  test("lists every exit code, and those of signals", () => {
    const codes = rowsOf(sectionOf(errors, "Exit codes")).map(([code]) => code);
    expect(codes).toEqual([...Object.values(EXIT).map(String), "130, 143"]);
  });

  test("explains every code of doctor, and none that doctor does not have", () => {
    const explained = rowsOf(sectionOf(errors, "Codes of doctor")).map(([code]) => code);
    expect([...explained].sort()).toEqual([...codesOfDoctor()].sort());
  });

  test("explains log lines that are in the source", () => {
    const lines = rowsOf(sectionOf(errors, "Log lines"));
    const source = textOfSource();
    expect(lines.map(([line = ""]) => line).filter((line) => !source.includes(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(10);
  });
});

test("the quick reference says what to do about every alarm, in the order of the rules", () => {
  const rules = readFileSync(join(root, "examples/nightdesk-alerts.yaml"), "utf8");
  const alarms = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const told = rowsOf(sectionOf(readDoc("OPERATOR_QUICKREF.md"), "Alarms"));
  expect(told.map(([name]) => name)).toEqual(alarms);
});

test("formats.md names the endings that are read by default", () => {
  const defaults = parse(readFileSync(join(root, "configs/default.yaml"), "utf8")) as {
    readonly security: { readonly allowed_exts: readonly string[] };
  };
  const [, said = ""] = /By default (.*?) are\s+allowed/s.exec(readDoc("docs/formats.md")) ?? [];
  expect(said.match(/\.\w+/g)).toEqual(defaults.security.allowed_exts);
});

test("the comment of results.kind names every kind of job", () => {
  const comment = "comment on view column nightdesk.results.kind is '";
  const [, rest = ""] = readFileSync(join(root, "tests/schema.sql"), "utf8").split(comment);
  expect(rest.split(".'")[0]?.split(/, | or /)).toEqual([...KINDS]);
});

test("the reference shows lines that enqueue takes, of every kind", () => {
  const [block] = blocksOf(readDoc("docs/reference/batch-format.md"));
  const lines = (block?.body ?? "").trimEnd().split("\n");
  const parser = nativeLines(() => "");
  const parsed = lines.map((text, n) => parser.parse({ number: n + 1, text }));
  expect(parsed.filter(({ ok }) => !ok)).toEqual([]);
  const kinds = parsed.flatMap((line) => (line.ok ? [line.job.input.kind] : []));
  expect(new Set(kinds)).toEqual(new Set(LINE_KINDS));
});

describe("the architecture", () => {
  test("draws every folder of src/, and none that is not there", () => {
    const [diagram] = blocksOf(sectionOf(readDoc("docs/architecture.md"), "Processes and rooms"));
    const drawn = new Set(
      [...(diagram?.body ?? "").matchAll(/\b([a-z]+(?:-[a-z]+)*)\//g)].map(([, name]) => name),
    );
    expect([...drawn].sort()).toEqual([...new Set(["bin", "src", ...foldersOfSource()])].sort());
  });
});

/** The processes, and the folders directly below them. */
function foldersOfSource(): readonly string[] {
  const foldersIn = (path: string) =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  return foldersIn("src").flatMap((name) => [name, ...foldersIn(`src/${name}`)]);
}

const textOfSource = (): string =>
  readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, "src", name), "utf8"))
    .join("\n");

function codesOfDoctor(): ReadonlySet<string> {
  const folder = join(root, "src/worker/doctor");
  const files = [
    ...readdirSync(folder).map((name) => join(folder, name)),
    join(root, "src/worker/commands/doctor.ts"),
  ];
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
  return new Set([...text.matchAll(/"(DOCTOR_[A-Z_]+)"/g)].map(([, code = ""]) => code));
}
