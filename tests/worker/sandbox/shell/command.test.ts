import { describe, expect, test } from "@jest/globals";
import { decideCommand } from "../../../../src/worker/sandbox/shell/command.ts";
import type { CommandDecision } from "../../../../src/worker/sandbox/shell/command.ts";
import { labelCommand } from "../../../../src/worker/sandbox/shell/labels.ts";
import { classifyPath } from "../../../../src/worker/sandbox/shell/path-class.ts";
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
): CommandDecision => decideCommand(text, { place: { folder, links: LINKS }, rules, now: NOW });

describe("the corpus", () => {
  test("holds 150 hostile commands and 40 good ones, each once", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(150);
    expect(GOOD.length).toBeGreaterThanOrEqual(40);
    const commands = [...HOSTILE, ...GOOD].map(({ command }) => command);
    expect(new Set(commands).size).toBe(commands.length);
  });

  test("has no hostile command that runs unasked", () => {
    const running = HOSTILE.filter(({ command }) => decide(command).kind !== "asks");
    expect(running).toEqual([]);
  });

  test("has no good command that asks", () => {
    const asking = GOOD.filter(({ command }) => decide(command).kind !== "runs");
    expect(asking.map(({ command }) => [command, decide(command)])).toEqual([]);
  });

  test("asks with its form where that is the trouble", () => {
    const reasons = HOSTILE.map(({ command }) => {
      const decision = decide(command);
      return decision.kind === "asks" ? decision.reason : decision.kind;
    });
    const expected = [
      "assignment",
      "background",
      "characters",
      "command_word",
      "expansion",
      "flag",
    ];
    expected.push(
      "operand",
      "path_outside",
      "program",
      "redirection",
      "several_commands",
      "syntax",
    );
    expect([...new Set(reasons)].sort()).toEqual(expected);
  });
});

describe("what runs is what was checked", () => {
  const argvOf = (text: string): readonly string[] => {
    const decision = decide(text);
    return decision.kind === "runs" ? decision.argv : [decision.kind];
  };

  test("as words without quotes, by the program's own place", () => {
    expect(argvOf(`grep -n 'a  $(id)' "c d"/e`)).toEqual([
      "/usr/bin/grep",
      "-n",
      "a  $(id)",
      "c d/e",
    ]);
    expect(argvOf("ls;")).toEqual(["/usr/bin/ls"]);
    expect(argvOf("ls -la # ; id")).toEqual(["/usr/bin/ls", "-la"]);
  });

  test("with its errors as the text has them", () => {
    expect(decide("ls 2>/dev/null")).toMatchObject({ errors: "dropped" });
    expect(decide("ls 2>&1")).toMatchObject({ errors: "joined" });
    expect(decide("ls")).toMatchObject({ errors: "kept" });
  });

  test("of git and diff without what a repository could run, or a link lead to", () => {
    const argv = argvOf("git log -n2 HEAD -- notes.md");
    expect(argv.slice(0, 2)).toEqual(["/usr/bin/env", "GIT_CONFIG_NOSYSTEM=1"]);
    expect(argv.slice(-8)).toEqual([
      "log",
      "--no-ext-diff",
      "--no-textconv",
      "--no-color",
      "-n2",
      "HEAD",
      "--",
      "notes.md",
    ]);
    expect(argvOf("git diff A..B").at(-1)).toBe("--");
    expect(argvOf("diff -u a b")).toEqual(["/usr/bin/diff", "--no-dereference", "-u", "a", "b"]);
  });
});

describe("flags are read as the program reads them", () => {
  const good = [
    "head -n5 notes.md",
    "head -qn 5 notes.md",
    "head --lines=5 notes.md",
    "head --lines 5 notes.md",
    "cat -- -n",
    "sort -k2,2 -rn notes.md",
    "cut -d ' ' -f 1 notes.md",
    "ls notes.md -la",
    "grep -- -e notes.md",
    "jq --arg a b .x notes.md",
  ];
  const bad = [
    "sort -ro x notes.md",
    "sort notes.md -o x",
    "head -n /etc/passwd notes.md",
    "head --line=5 notes.md",
    "head -n",
    "head --lines",
    "jq --arg a",
    "jq --slurpfile a /input/a .",
    "cat --number=x --show-al notes.md",
    "grep",
    "uniq a b",
    "sed 1d notes.md",
    "sed -n 's/a/b/' notes.md",
    "date notes",
    "tr a b c",
    "ls --color=auto --zero",
    "toString",
    "constructor x",
    "find . -name",
    "find . x -name y -exec",
    "git",
    "git --version",
    "git log --out=x",
  ];
  test.each(good)("%s runs", (command) => {
    expect(decide(command).kind).toBe("runs");
  });
  test.each(bad)("%s asks", (command) => {
    expect(decide(command).kind).toBe("asks");
  });
});

describe("a path counts by where it leads", () => {
  const classes = [
    ["/input/a.md", "input"],
    ["../input/a.md", "input"],
    ["/input", "input"],
    ["/input/../scratch/x", "scratch"],
    ["notes.md", "scratch"],
    ["safe", "scratch"],
    [".", "scratch"],
    ["/dev/null", "null"],
    ["/input-evil/a.md", "outside"],
    ["link", "outside"],
    ["deep/link", "outside"],
    ["linkdir/version", "outside"],
    ["linkdir/../scratch/notes.md", "scratch"],
    ["up/etc/passwd", "outside"],
    ["up/scratch/notes.md", "scratch"],
    ["loop", "outside"],
    ["", "scratch"],
    ["/", "outside"],
    ["..", "outside"],
    ["//input//a.md", "input"],
    ["__proto__/x", "scratch"],
  ] as const;
  test.each(classes)("%s is %s", (path, expected) => {
    expect(classifyPath(path, { folder: "/scratch", links: LINKS }).class).toBe(expected);
  });

  test("and so does the folder that a command runs in", () => {
    expect(decide("ls", [], "/usr")).toMatchObject({ reason: "path_outside", what: "/usr" });
    expect(decide("ls", [], "/scratch/linkdir")).toMatchObject({ reason: "path_outside" });
    expect(decide("ls", [], "/input/deep").kind).toBe("runs");
  });
});

describe("a rule of the user", () => {
  const python: AllowRule = {
    verdict: "allow",
    binary: "python3",
    words: ["/scratch/tools/count.py"],
    flags: ["-v", "--by="],
    folder: "/input/logs",
    expiresAt: LATER,
  };
  const run = (text: string, rule: AllowRule = python, folder = "/input/logs"): string =>
    decide(text, [rule], folder).kind;

  test("lets its program run with its flags in its folder", () => {
    expect(
      decide("python3 /scratch/tools/count.py -v a.log", [python], "/input/logs"),
    ).toMatchObject({
      kind: "runs",
      argv: ["/usr/bin/python3", "/scratch/tools/count.py", "-v", "a.log"],
      rule: python,
    });
    expect(run("python3 /scratch/tools/count.py --by=day /input/logs/deep/b.log")).toBe("runs");
    expect(run("python3 /scratch/tools/count.py -- a.log")).toBe("runs");
  });

  test.each([
    "python3 /scratch/tools/other.py a.log",
    "python3 -c x /scratch/tools/count.py",
    "python3 /scratch/tools/count.py -c a.log",
    "python3 /scratch/tools/count.py ../secret/a.log",
    "python3 /scratch/tools/count.py a.log /input/logs-evil/b.log",
    "python3 /scratch/tools/count.py -- ../a.log",
    "python3 /scratch/tools/count.py --by=/etc/passwd a.log",
    "python3 /scratch/tools/count.py a.log; id",
    "python3 /scratch/tools/count.py $(id)",
    "python3 /scratch/tools/count.py a.log > b",
    "python /scratch/tools/count.py a.log",
    "/usr/bin/python3 /scratch/tools/count.py a.log",
  ])("does not let this run: %s", (text) => {
    expect(run(text)).toBe("asks");
  });

  test("ends with its time, and holds in no other folder", () => {
    const text = "python3 /scratch/tools/count.py /input/logs/a.log";
    expect(run(text, { ...python, expiresAt: NOW })).toBe("asks");
    expect(run(text, python, "/scratch")).toBe("asks");
    expect(
      run(
        "python3 /scratch/tools/count.py /scratch/link",
        { ...python, folder: "/scratch" },
        "/scratch",
      ),
    ).toBe("asks");
  });

  test("that forbids comes before all that allows", () => {
    const noGrep: ForbidRule = { verdict: "forbid", binary: "grep", words: [], expiresAt: null };
    const noLog: ForbidRule = {
      verdict: "forbid",
      binary: "git",
      words: ["log"],
      expiresAt: LATER,
    };
    expect(decide("grep x notes.md", [noGrep]).kind).toBe("forbidden");
    expect(decide("git log", [noLog]).kind).toBe("forbidden");
    expect(decide("git show", [noLog]).kind).toBe("runs");
    const hidden = [
      "ls; grep x y",
      "ls $(grep x y)",
      "/usr/bin/grep x",
      "env grep x",
      "bash -c 'ls;grep x'",
      "for f in a; do grep x; done",
      "xargs grep",
      "cat <(grep x)",
    ];
    expect(hidden.filter((text) => !forbids(noGrep, text, NOW))).toEqual([]);
    expect(
      ["echo grep", "ls egrep", "cat grep.md"].filter((text) => forbids(noGrep, text, NOW)),
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
    ["python3 x.py", []],
    ["ls 2>/dev/null", []],
    ["cat /input/a.md", []],
    ["grep function notes.md", []],
  ] as const)("of %s", (text, labels) => {
    expect(labelCommand(text)).toEqual(labels);
  });
});
