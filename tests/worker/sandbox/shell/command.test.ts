import { describe, expect, test } from "@jest/globals";
import { decideCommand } from "../../../../src/worker/sandbox/shell/command.ts";
import type { AskMode, CommandDecision } from "../../../../src/worker/sandbox/shell/command.ts";
import { labelCommand } from "../../../../src/worker/sandbox/shell/labels.ts";
import { isWithin, resolvePath } from "../../../../src/worker/sandbox/shell/resolve-path.ts";
import { forbids } from "../../../../src/worker/sandbox/shell/rules.ts";
import type {
  AllowRule,
  CommandRule,
  ForbidRule,
} from "../../../../src/worker/sandbox/shell/rules.ts";
import { GOOD, HOSTILE, LINKS } from "./read-corpus.ts";

const NOW = new Date("2026-11-23T22:00:00Z");
const LATER = new Date("2026-11-24T22:00:00Z");

const decide = (
  text: string,
  rules: readonly CommandRule[] = [],
  folder = "/scratch",
  ask: AskMode = "listed",
): CommandDecision =>
  decideCommand(text, { ask, place: { folder, links: LINKS }, rules, now: NOW });

const allow = (binary: string, folder: string, ...words: string[]): AllowRule => ({
  verdict: "allow",
  binary,
  words,
  folder,
  expiresAt: LATER,
});

describe("the corpus", () => {
  test("holds 150 hostile commands and 40 good ones, each once", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(150);
    expect(GOOD.length).toBeGreaterThanOrEqual(40);
    const commands = [...HOSTILE, ...GOOD].map(({ command }) => command);
    expect(new Set(commands).size).toBe(commands.length);
  });

  test("runs as it stands where nobody is asked, and is asked about where all is", () => {
    for (const { command } of [...HOSTILE, ...GOOD]) {
      expect(decide(command, [], "/scratch", "never")).toEqual({
        kind: "runs",
        command: { kind: "script", text: command },
        rules: [],
      });
      expect(decide(command, [allow("cat", "/")], "/scratch", "always")).toMatchObject({
        kind: "asks",
        reason: "always",
      });
    }
  });

  test("has no hostile command that runs by a rule for what reads in /input", () => {
    const rules = ["cat", "ls", "grep", "wc"].map((binary) => allow(binary, "/input"));
    const running = HOSTILE.filter(({ command }) => decide(command, rules).kind === "runs");
    expect(running).toEqual([]);
    const reasons = HOSTILE.map(({ command }) => {
      const decision = decide(command, rules);
      return decision.kind === "asks" ? decision.reason : decision.kind;
    });
    expect([...new Set(reasons)].sort()).toEqual([
      "assignment",
      "background",
      "characters",
      "command_word",
      "expansion",
      "no_rule",
      "redirection",
      "several_commands",
      "syntax",
    ]);
  });

  test("has no good command that a rule for its program does not let run", () => {
    const asking = GOOD.filter(({ command }) => {
      const [binary = ""] = command.split(" ");
      return decide(command, [allow(binary, "/")]).kind !== "runs";
    });
    expect(asking).toEqual([]);
  });
});

describe("what a rule lets run is what was checked", () => {
  const commandOf = (text: string): unknown => {
    const rules = ["grep", "ls", "cat", "wc"].map((binary) => allow(binary, "/"));
    const decision = decide(text, rules);
    return decision.kind === "runs" ? decision.command : decision.kind;
  };

  test("as words without quotes, by the program's own place", () => {
    expect(commandOf(`grep -n 'a  $(id)' "c d"/e`)).toEqual({
      kind: "argv",
      argv: ["/usr/bin/grep", "-n", "a  $(id)", "c d/e"],
      errors: "kept",
    });
    expect(commandOf("ls;")).toMatchObject({ argv: ["/usr/bin/ls"] });
    expect(commandOf("ls -la # ; id")).toMatchObject({ argv: ["/usr/bin/ls", "-la"] });
    expect(commandOf("ls 2>/dev/null")).toMatchObject({ errors: "dropped" });
    expect(commandOf("ls 2>&1")).toMatchObject({ errors: "joined" });
  });

  test("of a pipe with each word quoted again", () => {
    expect(commandOf(`cat "it's" 2>/dev/null | wc -l`)).toEqual({
      kind: "argv",
      argv: ["/bin/bash", "-p", "-c", `'/usr/bin/cat' 'it'\\''s' 2>/dev/null | '/usr/bin/wc' '-l'`],
      errors: "kept",
    });
  });
});

describe("a path counts by where it leads", () => {
  test.each([
    ["/input/a.md", "/input/a.md"],
    ["../input/a.md", "/input/a.md"],
    ["/input", "/input"],
    ["/input/../scratch/x", "/scratch/x"],
    ["notes.md", "/scratch/notes.md"],
    ["safe", "/scratch/notes.md"],
    [".", "/scratch"],
    ["/dev/null", "/dev/null"],
    ["/input-evil/a.md", "/input-evil/a.md"],
    ["link", "/proc/self/environ"],
    ["deep/link", "/proc/self/environ"],
    ["linkdir/version", "/proc/version"],
    ["linkdir/../scratch/notes.md", "/scratch/notes.md"],
    ["up/etc/passwd", "/etc/passwd"],
    ["up/scratch/notes.md", "/scratch/notes.md"],
    ["loop", null],
    ["", "/scratch"],
    ["/", "/"],
    ["..", "/"],
    ["//input//a.md", "/input/a.md"],
    ["__proto__/x", "/scratch/__proto__/x"],
  ])("%s leads to %s", (path, expected) => {
    expect(resolvePath(path, { folder: "/scratch", links: LINKS })).toBe(expected);
  });

  test.each([
    ["/input/a.md", true],
    ["/input", true],
    ["/input-evil/a.md", false],
    ["/", false],
  ])("%s lies in /input: %s", (path, expected) => {
    expect(isWithin(path, "/input")).toBe(expected);
  });
});

describe("a rule of the user", () => {
  const logs = allow("cat", "/input/logs");
  const run = (text: string, folder = "/scratch", ...rules: AllowRule[]): string =>
    decide(text, rules.length === 0 ? [logs] : rules, folder).kind;

  test.each([
    ["cat /input/logs/a.log", "/scratch"],
    ["cat -n ../input/logs/deep/b.log", "/scratch"],
    ["cat a.log", "/input/logs"],
    ["cat -- -odd.log", "/input/logs/deep"],
    ["cat", "/input/logs"],
    ["cat pattern /input/logs/a.log", "/scratch"],
    ["cat --from=/input/logs/x /input/logs/a.log", "/scratch"],
  ])("lets its program run on its folder: %s in %s", (text, folder) => {
    expect(decide(text, [logs], folder)).toMatchObject({ kind: "runs", rules: [logs] });
  });

  test.each([
    ["cat ../secret/a.log", "/input/logs"],
    ["cat /input/logs/a.log /input/logs-evil/b.log", "/scratch"],
    ["cat /input/logs/a.log b.log", "/input/other"],
    ["cat --from=/etc/passwd /input/logs/a.log", "/scratch"],
    ["cat -f/etc/passwd /input/logs/a.log", "/scratch"],
    ["cat -f../x /input/logs/a.log", "/scratch"],
    ["cat -C.. a.log", "/input/logs"],
    ["cat -f/input/secret/a=b.log /input/logs/a.log", "/scratch"],
    ["cat if=/etc/passwd /input/logs/a.log", "/scratch"],
    ["cat link /input/logs/a.log", "/scratch"],
    ["cat --from=link /input/logs/a.log", "/scratch"],
    ["cat notes.md", "/scratch"],
    ["cat", "/scratch"],
    ["cat .. /input/logs/a.log", "/scratch"],
    ["cat /input/logs/a.log; id", "/scratch"],
    ["cat /input/logs/a.log | id", "/scratch"],
    ["cat /input/logs/a.log |& cat", "/scratch"],
    ["! cat /input/logs/a.log", "/scratch"],
    ["cat $(id)", "/input/logs"],
    ["cat a.log > b", "/input/logs"],
    ["tac a.log", "/input/logs"],
    ["/usr/bin/cat a.log", "/input/logs"],
  ])("does not let this run: %s in %s", (text, folder) => {
    expect(decide(text, [logs], folder).kind).toBe("asks");
  });

  test("lets a pipe run when each of its commands has one", () => {
    const wc = allow("wc", "/input/logs");
    const text = "cat /input/logs/a.log | wc -l";
    expect(decide(text, [logs])).toMatchObject({ kind: "asks", reason: "no_rule", what: "wc" });
    expect(decide(text, [wc, logs])).toMatchObject({ kind: "runs", rules: [logs, wc] });
    expect(run("cat /input/logs/a.log | wc -l /etc/passwd", "/scratch", logs, wc)).toBe("asks");
    expect(run("wc -l", "/scratch", wc)).toBe("asks");
  });

  test("may have words that must follow, and ends with its time", () => {
    const log = allow("git", "/", "log");
    expect(run("git log -n2", "/scratch", log)).toBe("runs");
    expect(run("git -c x log", "/scratch", log)).toBe("asks");
    const text = "cat /input/logs/a.log";
    expect(run(text, "/scratch", { ...logs, expiresAt: NOW })).toBe("asks");
    expect(run(text, "/scratch", { ...logs, expiresAt: null })).toBe("runs");
  });

  test("that forbids comes before all that allows", () => {
    const noGrep: ForbidRule = { verdict: "forbid", binary: "grep", words: [], expiresAt: null };
    const noLog: ForbidRule = {
      verdict: "forbid",
      binary: "git",
      words: ["log"],
      expiresAt: LATER,
    };
    for (const ask of ["never", "listed", "always"] as const) {
      const rules = [noGrep, allow("grep", "/")];
      expect(decide("grep x notes.md", rules, "/scratch", ask).kind).toBe("forbidden");
    }
    expect(decide("git log", [noLog]).kind).toBe("forbidden");
    expect(decide("git -C /scratch log", [noLog]).kind).toBe("forbidden");
    expect(decide("git show", [noLog], "/scratch", "never").kind).toBe("runs");
    const hidden = [
      "ls; grep x y",
      "ls $(grep x y)",
      "/usr/bin/grep x",
      "env grep x",
      "bash -c 'ls;grep x'",
      "for f in a; do grep x; done",
      "xargs grep",
      "cat <(grep x)",
      "echo grep x | sh",
      "bash <<< 'grep x'",
      "bash <<X\ngrep x\nX",
      `env "gr"ep x`,
    ];
    expect(hidden.filter((text) => !forbids(noGrep, text, NOW))).toEqual([]);
    expect(
      ["ls egrep", "cat grep.md", "egrep -c grep a.md"].filter((text) =>
        forbids(noGrep, text, NOW),
      ),
    ).toEqual([]);
    expect(forbids(noLog, "git log", LATER)).toBe(false);
  });
});

describe("a text made to hurt the reader", () => {
  const texts = [
    "(",
    "$(",
    "`",
    "{ ",
    "if ",
    "<(",
    "((",
    "${a:-",
    "<<a ",
    "f()",
    '"$("',
    "{a,",
    "a&&",
    "\\",
    "sed -",
    "> ",
  ];
  test.each(texts)("%s, over and over, asks, and is forbidden or not, in no time", (piece) => {
    const noGrep: ForbidRule = { verdict: "forbid", binary: "grep", words: [], expiresAt: null };
    const start = performance.now();
    for (const length of [4000, 60_000]) {
      const text = piece.repeat(length / piece.length);
      expect(decide(text).kind).toBe("asks");
      forbids(noGrep, text, NOW);
    }
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  test("is forbidden where it can't be read and something is", () => {
    const noGrep: ForbidRule = { verdict: "forbid", binary: "grep", words: [], expiresAt: null };
    expect(decide("f()".repeat(20_000), [noGrep]).kind).toBe("forbidden");
    expect(decide('g""rep x\n)', [noGrep]).kind).toBe("forbidden");
    expect(decide("ls\n)", [noGrep]).kind).toBe("forbidden");
    expect(decide(`ls ${"a".repeat(5000)}`)).toMatchObject({ reason: "length" });
  });
});

describe("labels", () => {
  test.each([
    ["curl https://example.org", ["network"]],
    ["echo x > f", ["writes"]],
    ["find . -delete", ["deletes"]],
    ["cat ~/.ssh/id_rsa", ["credentials", "out_of_root"]],
    ["cat ../x", ["out_of_root"]],
    ["python3 x.py", ["project_code"]],
    ["make test", ["project_code"]],
    ["npm run build", ["project_code"]],
    ["./run.sh", ["project_code"]],
    ["sudo ls", ["privilege"]],
    ["chmod u+s x", ["writes", "privilege"]],
    ["cat makefile.md", []],
    ["ls 2>/dev/null", []],
    ["cat /input/a.md", []],
    ["grep function notes.md", []],
  ] as const)("of %s", (text, labels) => {
    expect(labelCommand(text)).toEqual(labels);
  });
});
