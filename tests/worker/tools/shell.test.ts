import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { StoredCommandRule } from "../../../src/shared/store/investigations/command-rules.ts";
import type { StoredState } from "../../../src/shared/store/investigations/steps.ts";
import { openShellDoor } from "../../../src/worker/jobs/investigate/shell-door.ts";
import type { Sandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import type { AskMode } from "../../../src/worker/sandbox/shell/command.ts";
import { admitInputs } from "../../../src/worker/sandbox/shell/inputs.ts";
import { probeShell, THIS_MACHINE } from "../../../src/worker/sandbox/shell/probe.ts";
import { parseState } from "../../../src/worker/sandbox/shell/state.ts";
import { SHELL } from "../../../src/worker/tools/shell.ts";
import { parseArgs } from "../../../src/worker/tools/tool.ts";
import type { Permit, ToolOutput } from "../../../src/worker/tools/tool.ts";
import { toolReach } from "../../support/tool-reach.ts";
import { describeShell, shellHere } from "../sandbox/shell/shell-here.ts";
import { MAIL_HEAD, writeMail } from "../../support/format-writers.ts";
import { makeWorkroot } from "../sandbox/make-workroot.ts";
import type { Workroot } from "../sandbox/make-workroot.ts";

const LOGS: Readonly<Record<string, string>> = {
  "logs/a.md": "one\ntwo FAILED\nthree FAILED\n",
  "logs/deep/b.md": "four FAILED\n",
  "other/c.md": "five FAILED\n",
};

describeShell("the tool shell", () => {
  let root: Workroot;
  let sandbox: Sandbox;
  /** What the step before kept, as its rows would give it. */
  let state: StoredState | undefined;

  beforeAll(async () => {
    root = makeWorkroot();
    for (const [path, text] of Object.entries(LOGS)) root.write(`allowed/${path}`, text);
    sandbox = await root.open();
  });
  afterAll(() => {
    root.remove();
  });

  /** Which commands are asked about. */
  let ask: AskMode = "never";

  afterEach(() => {
    ask = "never";
    rules = [];
  });

  function reach(signal = new AbortController().signal) {
    const shell = openShellDoor(shellHere, {
      ask,
      log: {
        lastState: async () => state,
        commandRules: async () => rules,
        countRule: async () => undefined,
      },
      files: {
        listFiles: () => sandbox.listPaths(),
        locate: (path) => sandbox.locate(path),
        check: () => null,
        admit: (paths, quota) => admitInputs(sandbox, paths, quota),
      },
      signal,
    });
    return toolReach({ shell, signal });
  }

  /** Rules of the user that hold now. */
  let rules: readonly StoredCommandRule[] = [];
  const ruleFor = (binary: string, folder: string): StoredCommandRule => ({
    decisionId: binary,
    verdict: "approve",
    rule: { binary, words: [], folder },
    reason: null,
    expiresAt: null,
  });

  /** One call, whose state the next one finds as another worker would. */
  async function shell(
    command: string,
    { inputs = [], permit }: { inputs?: readonly string[]; permit?: Permit } = {},
  ): Promise<ToolOutput> {
    const given = await SHELL.run({ command, inputs: [...inputs] }, reach(), permit);
    if (given.kind === "refused") throw new Error(`${given.code}: ${given.message}`);
    const kept = given.kept?.find(({ stream }) => stream === "state")?.content;
    if (kept !== undefined) {
      state = { step: 1, sha256: hash("sha256", kept, "hex"), content: kept };
      expect(given.facts["state_sha256"]).toBe(state.sha256);
    }
    return given;
  }

  const printedBy = ({ evidence: [first] }: ToolOutput): unknown =>
    first?.kind === "output" ? first.output.text : undefined;

  test("gives what a command printed as a print of its own, with the whole of it beside", async () => {
    const given = await shell("grep -rc FAILED /input", { inputs: ["allowed/logs"] });
    expect(String(printedBy(given)).trim().split("\n").sort()).toEqual([
      "/input/allowed/logs/a.md:2",
      "/input/allowed/logs/deep/b.md:1",
    ]);
    expect(given.text).toMatch(/^Exit code 0\.\nstdout: \d+ bytes, shown as evidence\.$/);
    expect(given.facts).toMatchObject({ ended: "exited", exit_code: 0, input_files: 2 });
    const stdout = given.kept?.find(({ stream }) => stream === "stdout")?.content;
    expect(hash("sha256", stdout ?? "", "hex")).toBe(given.facts["stdout_sha256"]);
  });

  test.each([
    [["allowed/logs/*.md"], ["/input/allowed/logs/a.md"]],
    [
      ["allowed/**/*.md"],
      ["/input/allowed/logs/a.md", "/input/allowed/logs/deep/b.md", "/input/allowed/other/c.md"],
    ],
    [["a.md", "allowed/logs/a.md"], ["/input/allowed/logs/a.md"]],
    [["allowed/logs/deep/"], ["/input/allowed/logs/deep/b.md"]],
  ])("puts at /input what %j means", async (inputs, files) => {
    const given = await shell("find /input -type f", { inputs });
    expect(String(printedBy(given)).trim().split("\n").sort()).toEqual(files);
  });

  test("attachments are inputs by their path, or by a folder or a glob that their mail is not meant by", async () => {
    const mail = "allowed/logs/night.eml";
    const attachments = [
      { name: "host.csv", type: "text/csv", content: "host,state\nnas,FAILED\n" },
    ];
    root.write(mail, writeMail({ ...MAIL_HEAD, attachments }));
    const opened = await root.open({ allowedExts: [".md", ".eml"] });
    const attachment = `${mail}/attachments/1/host.csv`;
    const door = openShellDoor(shellHere, {
      ask: "never",
      log: {
        lastState: async () => undefined,
        commandRules: async () => [],
        countRule: async () => undefined,
      },
      files: {
        listFiles: async () => [mail, attachment],
        locate: (path) => opened.locate(path),
        check: () => null,
        admit: (paths, quota) => admitInputs(opened, paths, quota),
      },
      signal: new AbortController().signal,
    });
    const find = async (...inputs: readonly string[]) => {
      const reached = toolReach({ shell: door });
      const given = await SHELL.run(
        { command: "find /input -type f", inputs: [...inputs] },
        reached,
      );
      return given.kind === "refused" ? given.code : printedBy(given);
    };
    const found = `/input/${attachment}\n`;
    for (const input of [
      attachment,
      "logs/night.eml/attachments/1/host.csv",
      "**/*.csv",
      `${mail}/attachments`,
    ]) {
      expect([input, await find(input)]).toEqual([input, found]);
    }
    expect(await find("allowed/logs")).toBe(`/input/${mail}\n`);
    expect(await find(mail, attachment)).toBe("INVALID_ARGS");
    rmSync(join(root.work, mail));
  });

  test.each([
    ["allowed/none/*.md", "FILE_NOT_FOUND"],
    ["nothing.md", "FILE_NOT_FOUND"],
    ["../../etc/passwd", "PATH_DENIED"],
    ["/etc/passwd", "PATH_DENIED"],
    ["allowed/@(a|b).md*", "INVALID_ARGS"],
  ])("refuses %s as an input with %s", async (pattern, code) => {
    const given = await SHELL.run({ command: "ls /input", inputs: [pattern] }, reach());
    expect(given).toMatchObject({ kind: "refused", code });
  });

  test("drops errors where the command says so, and shows them otherwise", async () => {
    const quiet = await shell("cat /input/none 2>/dev/null");
    expect(quiet.text).toMatch(/^Exit code 1\. No files were named in inputs/);
    expect(quiet.text).not.toContain("No such file");
    const loud = await shell("cat /input/none");
    expect(loud.text).toMatch(/stderr, \d+ bytes:\n.*cat: .*No such file/);
    expect(loud.evidence).toEqual([]);
  });

  test("runs a pipe at once, on what the calls before it left", async () => {
    await shell("seq 1 30 | grep 7 > found; export N=3");
    expect(printedBy(await shell('wc -l < found | tr -d " "; echo "$N"'))).toBe("3\n3\n");
    state = undefined;
  });

  test("asks for what no rule allows where it is told to, and runs it as it stands when it is approved", async () => {
    ask = "listed";
    const command = "echo a > x; export N=3; cd /tmp; pwd";
    expect(await SHELL.approval?.({ command }, reach())).toMatchObject({
      executor: "bubblewrap/2",
      risks: ["writes"],
      preview: expect.stringMatching(
        /^echo a > x; export N=3; cd \/tmp; pwd\n\nit is more than one command; no files$/,
      ),
      instead: expect.stringContaining("a program that only reads"),
    });
    expect(await SHELL.run({ command }, reach())).toMatchObject({ code: "TOOL_DENIED" });
    expect(printedBy(await shell(command, { permit: "approved" }))).toBe("/tmp\n");
    expect(parseState(state?.content ?? Buffer.alloc(0))).toMatchObject({
      folder: "/tmp",
      variables: { N: "3" },
    });
    const next = await shell('cat /scratch/x; echo "$N"; pwd', { permit: "approved" });
    expect(printedBy(next)).toBe("a\n3\n/tmp\n");
    rules = [ruleFor("cat", "/scratch")];
    expect(await SHELL.approval?.({ command: "cat /scratch/x | wc -l" }, reach())).toMatchObject({
      preview: expect.stringContaining("no rule allows it on these paths (wc)"),
    });
    expect(await SHELL.approval?.({ command: "cat x" }, reach())).not.toBeNull();
    expect(await SHELL.approval?.({ command: "cat /scratch/x" }, reach())).toBeNull();
    expect(printedBy(await shell("cat /scratch/x"))).toBe("a\n");
    rules = [ruleFor("cat", "/scratch"), ruleFor("wc", "/input")];
    expect(printedBy(await shell("cat /scratch/x | wc -l"))).toBe("1\n");
    await shell("cd /scratch", { permit: "approved" });
    expect(printedBy(await shell("cat x"))).toBe("a\n");
    ask = "always";
    const always = await SHELL.approval?.({ command: "cat x" }, reach());
    expect(always?.preview).toContain("each command is asked about");
    expect(always).not.toHaveProperty("instead");
  });

  test("tells of a flood, gives none of it as evidence, and keeps the state before it", async () => {
    const before = state;
    const given = await shell("touch flooded; yes", { permit: "approved" });
    expect(given.text).toMatch(/printed more than 4194304 bytes to stdout/);
    expect(given.text).toContain("read_artifact with this step");
    expect(given.text).toMatch(/of which \d+ are left out here/);
    expect(given).toMatchObject({ evidence: [], facts: { ended: "flooded", state: "kept" } });
    expect(given.kept?.map(({ stream }) => stream)).toEqual(["stdout"]);
    expect(state).toBe(before);
    expect((await shell("ls /scratch/flooded")).facts["exit_code"]).toBe(2);
  });

  test("cuts a long print at a line, says what it left out, and keeps all of it", async () => {
    const given = await shell("seq 1 100000");
    const [piece] = given.evidence;
    if (piece?.kind !== "output") throw new Error("no print");
    expect(piece.output.text.length).toBeLessThanOrEqual(8_000);
    expect(piece.output.text).toMatch(/^1\n2\n[^]*\d+\n$/);
    expect(piece.output.charsFull).toBe(588_895);
    expect(given.text).toMatch(
      /stdout: 588895 bytes, of which the first \d+ characters are evidence/,
    );
    expect(given.text.endsWith("100000")).toBe(true);
    expect(given.kept?.[0]?.content).toHaveLength(588_895);
  });

  test("has no evidence in words of its own command", async () => {
    expect((await shell("echo 7 backups failed")).evidence).toEqual([]);
    expect((await shell("printf 7; /bin/echo 8")).evidence).toEqual([]);
    const script = "cat /dev/null; echo '7 backups failed'";
    expect((await shell(script, { permit: "approved" })).evidence).toEqual([]);
  });

  test("is told when what the last call left is damaged, and runs nothing", async () => {
    state = { step: 3, sha256: "0".repeat(64), content: Buffer.from("x") };
    await expect(SHELL.run({ command: "ls" }, reach())).rejects.toMatchObject({
      code: "REVIEW_PENDING",
      message: expect.stringContaining("what step 3 left in /scratch is gone or damaged"),
    });
    state = { step: 3, sha256: "0".repeat(64), content: null };
    await expect(SHELL.approval?.({ command: "ls" }, reach())).rejects.toMatchObject({
      code: "REVIEW_PENDING",
    });
    state = undefined;
  });

  test("ends with the run", async () => {
    const aborted = new AbortController();
    const running = SHELL.run({ command: "tail -f /dev/null" }, reach(aborted.signal), "approved");
    setTimeout(() => {
      aborted.abort();
    }, 200);
    expect(await running).toMatchObject({ facts: { ended: "cancelled", state: "kept" } });
  });
});

test("takes a command that a person can be shown whole", () => {
  expect(parseArgs(SHELL, { command: "x".repeat(3_001) })).toMatchObject({ code: "INVALID_ARGS" });
  expect(parseArgs(SHELL, { command: " " })).toMatchObject({ code: "INVALID_ARGS" });
});

test("is disabled where there is no sandbox, and says why", async () => {
  const probe = await probeShell({ ...THIS_MACHINE, programs: [] });
  const parts = {
    ask: "always" as const,
    log: {
      lastState: async () => undefined,
      commandRules: async () => [],
      countRule: async () => undefined,
    },
    files: {
      listFiles: async () => [],
      locate: async (path: string) => ({ kind: "located" as const, path }),
      check: () => null,
      admit: async () => ({ kind: "admitted" as const, files: [] }),
    },
    signal: new AbortController().signal,
  };
  const reach = toolReach({ shell: openShellDoor(probe, parts) });
  expect(SHELL.disabled?.(reach)).toContain("bubblewrap is not installed");
  expect(await SHELL.approval?.({ command: "rm x" }, reach)).toBeNull();
  expect(await SHELL.run({ command: "ls" }, reach)).toMatchObject({
    code: "TOOL_UNAVAILABLE",
    message: expect.stringContaining("There is no shell on this machine"),
  });
});
