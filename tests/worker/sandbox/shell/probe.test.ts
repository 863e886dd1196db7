import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import { selectMemoryLimit } from "../../../../src/worker/sandbox/shell/memory-group.ts";
import { probeShell, THIS_MACHINE } from "../../../../src/worker/sandbox/shell/probe.ts";
import type { ProbedMachine } from "../../../../src/worker/sandbox/shell/probe.ts";
import { makeSeccompFilter } from "../../../../src/worker/sandbox/shell/seccomp.ts";
import { describeShell, shellHere } from "./shell-here.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-probe-"));
  chmodSync(folder, 0o755);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A machine whose bubblewrap is a program of ours. */
function machineWith(
  name: string,
  script: string,
  facts: Partial<ProbedMachine> = {},
): ProbedMachine {
  const program = join(folder, name);
  writeFileSync(program, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  chmodSync(program, 0o755);
  return { ...THIS_MACHINE, sysctl: () => null, programs: [program], ...facts };
}

/** What is said where bubblewrap ends with these words before anything runs. */
const says = (words: string): string =>
  `echo 'bwrap: ${words.replaceAll("'", "'\\''")}' >&2; exit 1`;

describe("a machine has no shell, and the probe says why,", () => {
  test("where it is no Linux", async () => {
    expect(await probeShell({ ...THIS_MACHINE, platform: "darwin" })).toMatchObject({
      reason: "platform",
    });
  });

  test("where the numbers of its system calls are not known", async () => {
    expect(await probeShell({ ...THIS_MACHINE, architecture: "riscv64" })).toMatchObject({
      reason: "architecture",
      message: expect.stringContaining("riscv64"),
    });
  });

  test("where bubblewrap is not installed", async () => {
    expect(await probeShell({ ...THIS_MACHINE, programs: ["/nonexistent/bwrap"] })).toMatchObject({
      reason: "no_bubblewrap",
      message: expect.stringContaining("install the package bubblewrap"),
    });
  });

  const words = [
    [
      "user_namespaces_off",
      "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
    ],
    [
      "container_profile",
      "No permissions to creating new namespace, likely because the kernel does not allow non-privileged user namespaces.",
    ],
    ["container_profile", "Can't mount proc on /newroot/proc: Operation not permitted"],
    ["apparmor", "setting up uid map: Permission denied"],
    ["apparmor", "loopback: Failed RTM_NEWADDR: Operation not permitted"],
    ["bubblewrap_too_old", "Unknown option --disable-userns"],
    ["sandbox_failed", "Out of cheese"],
  ] as const;
  for (const [index, [reason, said]] of words.entries()) {
    test(`where bubblewrap says "${said}"`, async () => {
      const probe = await probeShell(machineWith(`says-${index}`, says(said)));
      expect(probe).toMatchObject({ reason });
      expect(probe).not.toHaveProperty("executor");
    });
  }

  test("where the system's settings say more than bubblewrap", async () => {
    const refused = says(words[1][1]);
    const off = (name: string): string | null => (name.endsWith("userns_clone") ? "0" : null);
    const restricted = (name: string): string | null => (name.includes("apparmor") ? "1" : null);
    expect(await probeShell(machineWith("off", refused, { sysctl: off }))).toMatchObject({
      reason: "user_namespaces_off",
    });
    expect(
      await probeShell(machineWith("restricted", refused, { sysctl: restricted })),
    ).toMatchObject({
      reason: "apparmor",
    });
  });
});

describeShell("a machine that could have a shell has none", () => {
  const real = shellHere.kind === "available" ? shellHere.bubblewrap : "";

  test("inside a sandbox that refuses user namespaces", async () => {
    const outer = `${real} --dev-bind / / --unshare-user --disable-userns -- ${real} "$@"`;
    expect(await probeShell(machineWith("nested", `exec ${outer}`))).toMatchObject({
      reason: "user_namespaces_off",
    });
  });

  test("inside a container whose filter refuses them", async () => {
    const filter = join(folder, "filter");
    writeFileSync(filter, makeSeccompFilter(process.arch) ?? "");
    chmodSync(filter, 0o644);
    const outer = `${real} --dev-bind / / --seccomp 99 -- ${real} "$@" 99<${filter}`;
    expect(await probeShell(machineWith("filtered", `exec ${outer}`))).toMatchObject({
      reason: "container_profile",
      message: expect.stringContaining("docs/many-machines.md"),
    });
  });

  const without = (...words: string[]): string =>
    `words=(); for word in "$@"; do case $word in ${words.join("|")}) ;; *) words+=("$word") ;; esac; done; exec ${real} "\${words[@]}"`;
  const weakened = [
    ["processes", without("--nproc=*")],
    ["address-space", without("--as=*")],
    ["file-size", without("--fsize=*")],
    [
      "scratch-size",
      `args=("$@"); for i in "\${!args[@]}"; do [ "\${args[i]}" = ${SHELL_LIMITS.scratchBytes} ] && args[i]=999999999; done; exec ${real} "\${args[@]}"`,
    ],
    [
      "root-writable",
      `args=("$@"); for i in "\${!args[@]}"; do [ "\${args[i]}" = --remount-ro ] && [ "\${args[i+1]}" = / ] && unset "args[i]" "args[i+1]"; done; exec ${real} "\${args[@]}"`,
    ],
    [
      "system-calls",
      `args=("$@"); for i in "\${!args[@]}"; do [ "\${args[i]}" = --seccomp ] && unset "args[i]" "args[i+1]"; done; exec ${real} "\${args[@]}"`,
    ],
  ] as const;
  for (const [name, script] of weakened) {
    test(`where it does not hold: ${name}`, async () => {
      expect(await probeShell(machineWith(`without-${name}`, script))).toMatchObject({
        reason: "not_proved",
        message: expect.stringContaining(name),
      });
    });
  }
});

describe("memory in all", () => {
  test("is limited for each process alone where there is no cgroup v2, or none can be made", () => {
    const self = join(folder, "cgroup");
    const files = { root: folder, self };
    writeFileSync(self, "4:memory:/x\n");
    expect(selectMemoryLimit(files)).toMatchObject({
      kind: "each_process",
      why: expect.stringContaining("no cgroup v2"),
    });
    expect(selectMemoryLimit({ ...files, self: join(folder, "none") })).toMatchObject({
      kind: "each_process",
    });
    writeFileSync(self, "0::/user.slice/worker\n");
    expect(selectMemoryLimit(files)).toMatchObject({ why: expect.stringContaining("ENOENT") });
    writeFileSync(self, "0::/worker\n");
    expect(selectMemoryLimit(files)).toMatchObject({ why: expect.stringContaining("ENOENT") });
  });
});
