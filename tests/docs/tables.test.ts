import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { EXIT } from "../../src/shared/commands/report-failure.ts";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { CODES } from "../../src/shared/failure.ts";
import { blocksOf, readDoc, root, rowsOf, sectionOf } from "./read-doc.ts";

const readme = readDoc("README.md");

describe("the README", () => {
  test("lists every error code with its outcome and meaning, in the order of the table", () => {
    const codes = Object.entries(CODES).map(([code, { outcome, meaning }]) => [
      code,
      outcome,
      meaning,
    ]);
    expect(rowsOf(sectionOf(readme, "Error codes"))).toEqual(codes);
  });

  test("lists every command that is not hidden, in the order of the help", () => {
    const commands = COMMANDS.filter(({ hidden }) => hidden !== true).map((command) => [
      [command.name, ...(command.arguments ?? []).map(({ usage }) => usage)].join(" "),
      command.summary,
    ]);
    expect(rowsOf(sectionOf(readme, "Commands"))).toEqual(commands);
  });

  test("lists every exit code, and those of signals", () => {
    const codes = rowsOf(sectionOf(readme, "Exit codes")).map(([code]) => code);
    expect(codes).toEqual([...Object.values(EXIT).map(String), "130, 143"]);
  });

  test("draws every folder of src/, and none that is not there", () => {
    const [diagram] = blocksOf(sectionOf(readme, "Architecture"));
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

describe("the operator's reference", () => {
  test("explains every code of doctor, and none that doctor does not have", () => {
    const explained = rowsOf(sectionOf(readDoc("OPERATOR_QUICKREF.md"), "Codes of doctor")).map(
      ([code]) => code,
    );
    expect([...explained].sort()).toEqual([...codesOfDoctor()].sort());
  });
});

test("the operator's reference explains log lines that are in the source", () => {
  const lines = rowsOf(sectionOf(readDoc("OPERATOR_QUICKREF.md"), "Log lines"));
  const source = textOfSource();
  expect(lines.map(([line = ""]) => line).filter((line) => !source.includes(line))).toEqual([]);
  expect(lines.length).toBeGreaterThan(10);
});

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
