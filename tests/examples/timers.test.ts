import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parseCommandWords } from "../../src/shared/commands/build-program.ts";
import { parseCron } from "../../src/shared/schedules/cron-times.ts";

const folder = resolve(import.meta.dirname, "..", "..", "examples");
const linesOf = (name: string): readonly string[] =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));

/** The words after `nightdesk` in a line of shell, as far as these examples go. */
const wordsOf = (command: string): readonly string[] =>
  [...command.slice(command.indexOf("nightdesk ") + 10).matchAll(/"([^"]*)"|[^\s'"]+/g)].map(
    ([word, quoted]) => quoted ?? word,
  );

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe("the crontab", () => {
  const entries = linesOf("nightdesk.cron").filter((line) => !/^[A-Z_]+=/.test(line));

  test.each(entries)("%s", (line) => {
    const [, cron = "", command = ""] = /^((?:\S+\s+){4}\S+)\s+(.*)$/.exec(line) ?? [];
    expect(parseCron(cron, "UTC")).toMatchObject({ ok: true });
    expect(parseCommandWords(wordsOf(command))).toMatchObject({ ok: true });
    // cron takes a bare one for the end of the line.
    expect(command).not.toMatch(/(?<!\\)%/);
  });

  test("has lines that enqueue and work", () => {
    expect(entries.map((line) => wordsOf(line)[0])).toEqual(["enqueue", "worker"]);
  });
});

describe("the systemd units", () => {
  const valuesOf = (name: string, key: string) =>
    linesOf(name).flatMap((line) =>
      line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : [],
    );

  test("run commands that exist", () => {
    const commands = valuesOf("nightdesk.service", "ExecStart");
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      expect(parseCommandWords(wordsOf(command))).toMatchObject({ ok: true });
      expect(command).toMatch(/^\//);
    }
  });

  test("are hardened as the unit of the worker is", () => {
    const worker = readFileSync(join(folder, "../deploy/systemd/nightdesk-worker.service"), "utf8");
    const hardening = worker
      .split("\n")
      .filter((line) =>
        /^(Protect|Private|Restrict(?!Prevent)|Cap|Amb|NoNew|Lock|System|UMask)/.test(line),
      );
    expect(hardening.length).toBeGreaterThan(12);
    expect(linesOf("nightdesk.service")).toEqual(expect.arrayContaining(hardening));
    expect(valuesOf("nightdesk.service", "ReadWritePaths")).toEqual(
      valuesOf("nightdesk.service", "WorkingDirectory"),
    );
  });

  test("start at a time that comes every week, and make up for a missed one", () => {
    const [calendar = ""] = valuesOf("nightdesk.timer", "OnCalendar");
    expect(calendar).toMatch(/^Mon\.\.Fri \d{2}:\d{2} [A-Z][a-z]+\/[A-Z][a-z]+$/);
    expect(parseCron("0 22 * * 1-5", calendar.split(" ")[2] ?? "")).toMatchObject({ ok: true });
    expect(valuesOf("nightdesk.timer", "Persistent")).toEqual(["true"]);
  });

  (hasSystemd ? test : test.skip)("hold for systemd itself", () => {
    const { status, stderr } = spawnSync("systemd-analyze", [
      "verify",
      join(folder, "nightdesk.timer"),
    ]);
    expect({ status, stderr: String(stderr) }).toMatchObject({ status: 0 });
  });
});
