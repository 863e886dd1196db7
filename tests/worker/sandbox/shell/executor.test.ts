import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createShellExecutor } from "../../../../src/worker/sandbox/shell/executor.ts";
import type { ShellOutcome } from "../../../../src/worker/sandbox/shell/executor.ts";
import { closeInputs } from "../../../../src/worker/sandbox/shell/inputs.ts";
import type { AdmittedFile } from "../../../../src/worker/sandbox/shell/inputs.ts";
import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import type { ShellState } from "../../../../src/worker/sandbox/shell/state.ts";
import { describeShell, runHere, runScript } from "./shell-here.ts";
import type { Ended } from "./shell-here.ts";

const exited = (code: number): object => ({ kind: "exited", code, signal: null });

function stateAfter(outcome: Ended): ShellState {
  if (outcome.state.kind === "saved") return outcome.state.state;
  throw new Error(`the state was not saved: ${outcome.state.why}`);
}

/** Processes that this one has started, that have ended, and that it has not asked after. */
const zombies = (): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, "utf8").includes(`) Z ${process.pid} `);
      } catch {
        return false;
      }
    });

test("an executor that would run commands as root is not made", () => {
  const host = { bubblewrap: "/usr/bin/bwrap", filter: Buffer.alloc(0) };
  const memory = { kind: "each_process", why: "" } as const;
  expect(() => createShellExecutor({ ...host, memory, unprivilegedId: 0 })).toThrow(
    /never runs as root/,
  );
});

describeShell("a command in the sandbox", () => {
  test("gives its exit code and both streams, counted and hashed", async () => {
    const outcome = await runScript("echo out; echo err >&2; exit 3");
    expect(outcome.ending).toEqual(exited(3));
    expect(outcome.stdout).toEqual({
      bytes: 4,
      sha256: hash("sha256", "out\n", "hex"),
      head: "out\n",
      tail: "",
    });
    expect(outcome.stderr.head).toBe("err\n");
  });

  test("runs words as they are, without a shell to read them again", async () => {
    const words = ["a;id", "$(id)", "*", "a b", "`id`", "\\n", "é"];
    const outcome = await runHere({
      command: { kind: "argv", argv: ["/usr/bin/printf", "%s\\n", ...words], errors: "kept" },
    });
    expect(outcome).toMatchObject({
      ending: exited(0),
      stdout: { head: words.map((word) => `${word}\n`).join("") },
    });
  });

  test("has its errors dropped, or among its output, where it was asked so", async () => {
    const argv = ["/usr/bin/cat", "/none"];
    const said = "/usr/bin/cat: /none: No such file or directory\n";
    const run = async (errors: "dropped" | "joined"): Promise<ShellOutcome> =>
      runHere({ command: { kind: "argv", argv, errors } });
    expect(await run("dropped")).toMatchObject({
      ending: exited(1),
      stdout: { bytes: 0 },
      stderr: { bytes: 0 },
    });
    expect(await run("joined")).toMatchObject({ stdout: { head: said }, stderr: { bytes: 0 } });
  });

  test("is told from one that a signal ended", async () => {
    const outcome = await runScript("kill -SEGV $$");
    expect(outcome.ending).toEqual({ kind: "exited", code: 139, signal: "SIGSEGV" });
  });

  test("knows nothing of the environment that it was started from", async () => {
    const outcome = await runScript(
      "env | cut -d= -f1 | sort; tr '\\0' '\\n' </proc/1/environ | cut -d= -f1 | sort",
    );
    const own = ["HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "TZ", "_"];
    expect(
      new Set(
        outcome.stdout.head
          .trim()
          .split("\n")
          .filter((name) => !own.includes(name)),
      ),
    ).toEqual(new Set());
  });

  test("keeps head and tail of a long stream, and hands all of it to the sink", async () => {
    const pieces: Buffer[] = [];
    const text = "é".repeat(80_000);
    const outcome = await runScript("for i in {1..80000}; do printf é; done", {
      sink: { write: (stream, piece) => stream === "stdout" && pieces.push(piece) },
    });
    const whole = Buffer.concat(pieces);
    expect(whole.toString()).toBe(text);
    expect(outcome.stdout).toMatchObject({ bytes: 160_000, sha256: hash("sha256", whole, "hex") });
    expect(outcome.stdout.head).toBe("é".repeat(18_750));
    expect(outcome.stdout.tail).toBe("é".repeat(6250));
  });

  test("cuts no character in two", async () => {
    const outcome = await runScript("printf a; for i in {1..40000}; do printf é; done");
    expect(outcome.stdout.head).toBe(`a${"é".repeat(18_749)}`);
    expect(outcome.stdout.tail).toBe("é".repeat(6250));
  });

  test("is ended when it writes without end", async () => {
    const outcome = await runScript("yes", { limits: { ...SHELL_LIMITS, streamBytes: 100_000 } });
    expect(outcome.ending).toEqual({ kind: "flooded", stream: "stdout" });
    expect(outcome.stdout.bytes).toBe(100_000);
    expect(outcome.state).toEqual({ kind: "kept", why: "killed" });
  });

  test("is ended with all that it started when time is up", async () => {
    const outcome = await runScript("trap '' TERM; setsid nohup sleep 9876 & sleep 9876", {
      limits: { ...SHELL_LIMITS, wallMs: 300 },
    });
    expect(outcome.ending).toEqual({ kind: "timed_out", afterMs: 300 });
    expect(outcome.state).toEqual({ kind: "kept", why: "killed" });
    expect(commandLines().filter((line) => line.includes("9876"))).toEqual([]);
  });

  test("is ended by an abort, also one that came before it", async () => {
    const aborter = new AbortController();
    const command = { kind: "script", text: "echo on; sleep 60" } as const;
    const sink = {
      write: () => {
        aborter.abort();
      },
    };
    expect(await runHere({ command, sink }, aborter.signal)).toMatchObject({
      ending: { kind: "cancelled" },
    });
    expect(await runHere({ command }, aborter.signal)).toMatchObject({
      ending: { kind: "cancelled" },
      stdout: { bytes: 0 },
    });
  });

  test("is ended, and its call fails, when its output can't be kept", async () => {
    const sink = {
      write: () => {
        throw new Error("the disk is full");
      },
    };
    await expect(runScript("echo on; sleep 7654", { sink })).rejects.toThrow("the disk is full");
    expect(commandLines().filter((line) => line.includes("7654"))).toEqual([]);
  });

  test("ends what it left running, and does not wait for it", async () => {
    const outcome = await runScript(
      "sleep 8765 & setsid nohup sleep 8765 >/dev/null 2>&1 & echo started",
    );
    expect(outcome.ending).toEqual(exited(0));
    expect(outcome.wallMs).toBeLessThan(20_000);
    expect(commandLines().filter((line) => line.includes("8765"))).toEqual([]);
  });

  test("ends with the worker that started it", async () => {
    const script = join(import.meta.dirname, "hold-sandbox.ts");
    const register = join(import.meta.dirname, "../../../../bench/register.js");
    const worker = spawn(process.execPath, ["--import", register, script], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(worker.stdout, "data");
    await expectSoon(() => commandLines().some((line) => line.includes("3456.5")));
    worker.kill("SIGKILL");
    await once(worker, "close");
    await expectSoon(() => commandLines().every((line) => !line.includes("3456.5")));
  }, 30_000);

  test("leaves no zombie, however it ends", async () => {
    const short = { limits: { ...SHELL_LIMITS, wallMs: 200 } };
    await Promise.all([
      runScript("true"),
      runScript("sleep 60", short),
      runScript("sleep 1 & exit 1"),
      runScript("kill -9 -1"),
    ]);
    await expectSoon(() => zombies().length === 0);
  });

  test("runs as an unprivileged user of the machine", async () => {
    const users: string[] = [];
    await runScript("sleep 0.654321 & sleep 0.1; echo on; wait", {
      sink: {
        write: () => {
          users.push(...usersOf("sleep 0.654321"));
        },
      },
    });
    expect(users.length).toBeGreaterThan(0);
    expect(users).not.toContain("0");
  });

  test("is refused before anything runs when it can't be run as it is", async () => {
    const refusal = { kind: "not_started", reason: "invalid_request" };
    const limits = { ...SHELL_LIMITS, scriptBytes: 100 };
    expect(await runHere({ command: { kind: "script", text: "a\0b" } })).toMatchObject(refusal);
    expect(
      await runHere({ command: { kind: "argv", argv: ["ls"], errors: "kept" } }),
    ).toMatchObject(refusal);
    expect(
      await runHere({ command: { kind: "script", text: "#".repeat(101) }, limits }),
    ).toMatchObject(refusal);
  });
});

async function expectSoon(holds: () => boolean): Promise<void> {
  for (const start = performance.now(); !holds();) {
    if (performance.now() - start > 10_000) throw new Error("it did not come to be within 10 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const commandLines = (): string[] => processes().map(({ line }) => line);

const usersOf = (word: string): string[] =>
  processes().flatMap(({ line, status }) =>
    line.includes(word) ? [/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? ""] : [],
  );

function processes(): { line: string; status: string }[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return [{ line, status: readFileSync(`/proc/${pid}/status`, "utf8") }];
    } catch {
      return [];
    }
  });
}

describeShell("the state between calls", () => {
  test("is the folder, the exported variables and the files of /scratch", async () => {
    const first = await runScript(
      "mkdir -p a/b; cd a/b; printf 'x\\ny' >file; ln -s ../file link; export WORD='two  words\n$(id)'; HIDDEN=1; exit 4",
    );
    expect(first.ending).toEqual(exited(4));
    const state = stateAfter(first);
    expect(state).toMatchObject({
      folder: "/scratch/a/b",
      links: { "/scratch/a/b/link": "../file" },
      entries: 4,
    });
    const second = await runScript(
      'pwd; cat file; echo "$WORD"; echo "hidden:$HIDDEN"; readlink link',
      { state },
    );
    expect(second.stdout.head).toBe("/scratch/a/b\nx\nytwo  words\n$(id)\nhidden:\n../file\n");
    expect(stateAfter(second).folder).toBe("/scratch/a/b");
  });

  test("gives words their folder and files, and none of the variables", async () => {
    const first = await runScript(
      "mkdir d; cd d; echo content >f; export LD_PRELOAD=/scratch/x PATH=/scratch",
    );
    const state = stateAfter(first);
    const argv = { kind: "argv", argv: ["/usr/bin/env"], errors: "kept" } as const;
    const second = await runHere({ command: argv, state });
    expect(second).toMatchObject({ ending: exited(0) });
    if (second.kind !== "ended") return;
    expect(second.stdout.head).toContain("PWD=/scratch/d\n");
    expect(second.stdout.head).not.toMatch(/LD_PRELOAD|PATH=\/scratch/);
    expect(stateAfter(second).variables).toMatchObject({
      LD_PRELOAD: "/scratch/x",
      PATH: "/scratch",
    });
    const cat = await runHere({
      command: { kind: "argv", argv: ["/usr/bin/cat", "f"], errors: "kept" },
      state,
    });
    expect(cat).toMatchObject({ stdout: { head: "content\n" } });
  });

  test("tells of a link whatever the command writes over its wrapper", async () => {
    // The wrapper is the first process of the sandbox, of the same user.
    const overwrite = `
      open my $maps, "<", "/proc/1/maps"; open my $mem, "+<:unix", "/proc/1/mem" or die "no memory: $!";
      for (<$maps>) {
        my ($from, $to) = /^([0-9a-f]+)-([0-9a-f]+) rw/ or next;
        ($from, $to) = (hex $from, hex $to);
        sysseek $mem, $from, 0; sysread $mem, my $held, $to - $from or next;
        while ($held =~ /find \\/scratch/g) { sysseek $mem, $from + $-[0], 0; syswrite $mem, "true" }
      }
      print "written";`;
    const outcome = await runScript(`ln -s /etc /scratch/out; perl -e '${overwrite}'`);
    expect(outcome.stdout.head).toBe("written");
    expect(stateAfter(outcome).links).toEqual({ "/scratch/out": "/etc" });
  });

  test("stays as it was when there is more than is kept", async () => {
    const few = { ...SHELL_LIMITS, stateEntries: 10, stateBytes: 100_000, variableBytes: 1000 };
    const kept = { kind: "kept", why: "too_large" };
    const tooMany = await runScript("for i in {1..11}; do : >$i; done", { limits: few });
    expect([tooMany.ending, tooMany.state]).toEqual([exited(0), kept]);
    const tooLarge = await runScript("head -c 200000 /dev/zero >f", { limits: few });
    expect([tooLarge.ending, tooLarge.state]).toEqual([exited(0), kept]);
    const tooLong = await runScript("export A=$(printf %2000s)", { limits: few });
    expect([tooLong.ending, tooLong.state]).toEqual([exited(0), kept]);
    const sparse = await runScript("truncate -s 60M f", { limits: few });
    expect(sparse.state).toEqual(kept);
  });

  test("keeps folder and variables where a script replaced its shell", async () => {
    const first = await runScript("mkdir a; cd a; export A=1");
    const second = await runScript("cd ..; export A=2; echo new >f; exec true", {
      state: stateAfter(first),
    });
    expect(stateAfter(second)).toMatchObject({
      folder: "/scratch/a",
      variables: { A: "1" },
      entries: 2,
    });
  });

  test("is not taken where it can't be unpacked", async () => {
    const state = {
      ...stateAfter(await runScript("echo x >f")),
      scratch: Buffer.from("no archive"),
    };
    expect(await runHere({ command: { kind: "script", text: "echo on" }, state })).toMatchObject({
      kind: "not_started",
      reason: "state_unreadable",
    });
  });

  test("holds no code: what a command writes as its state is read as words", async () => {
    const first = await runScript(
      "trap - EXIT; printf '/scratch\\0A=$(touch /scratch/ran)\\0B;touch /scratch/ran=1\\0' >/session/out/session",
    );
    const state = stateAfter(first);
    expect(state.variables).toEqual({ A: "$(touch /scratch/ran)" });
    const second = await runScript('echo "$A"; ls /scratch', { state });
    expect(second.stdout.head).toBe("$(touch /scratch/ran)\n");
  });
});

describeShell("inputs", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-shell-"));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  function admitted(path: string, content: string): AdmittedFile {
    const file = join(folder, path.replaceAll("/", "-"));
    writeFileSync(file, content, { mode: 0o600 });
    return { path, descriptor: openSync(file, "r"), bytes: Buffer.byteLength(content) };
  }

  test("are copies that can be read and not changed, by their paths", async () => {
    const inputs = [admitted("a.txt", "one\n"), admitted("deep/er/b c.txt", "two\n")];
    for (let call = 0; call < 2; call += 1) {
      const outcome = await runScript(
        "cd /input; find . -type f | sort; cat a.txt 'deep/er/b c.txt'; echo x >>a.txt; echo y >new; rm a.txt",
        { inputs },
      );
      expect(outcome.stdout.head).toBe("./a.txt\n./deep/er/b c.txt\none\ntwo\n");
      expect(outcome.stderr.head.match(/Read-only file system|Permission denied/g)).toHaveLength(3);
    }
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one\n");
    closeInputs(inputs);
  });

  test("are refused above the quota, and by names that lead elsewhere", async () => {
    const file = admitted("q.txt", "123456");
    const command = { kind: "script", text: "true" } as const;
    const refused = { kind: "not_started", reason: "inputs_refused" };
    const limits = { ...SHELL_LIMITS, inputBytes: 10, inputFiles: 2 };
    const named = (...paths: string[]): AdmittedFile[] => paths.map((path) => ({ ...file, path }));
    expect(await runHere({ command, inputs: named("a", "b"), limits })).toMatchObject(refused);
    expect(await runHere({ command, inputs: named("a", "b", "c"), limits })).toMatchObject(refused);
    for (const path of ["../x", "/x", "a/../../x", "a//b", "./a", "", "a/", "a\0b"]) {
      expect([path, await runHere({ command, inputs: named(path) })]).toMatchObject([
        path,
        refused,
      ]);
    }
    expect(await runHere({ command, inputs: named("a", "a") })).toMatchObject(refused);
    closeInputs([file]);
  });

  test("that grew since they were admitted start nothing", async () => {
    const file = admitted("grows.txt", "1");
    writeFileSync(join(folder, "grows.txt"), "x".repeat(1_000_000));
    const outcome = await runHere({ command: { kind: "script", text: "echo on" }, inputs: [file] });
    expect(outcome).toMatchObject({ kind: "not_started", reason: "sandbox_failed" });
    closeInputs([file]);
  });
});
