import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import { DENIED_CALLS } from "../../../../src/worker/sandbox/shell/seccomp.ts";
import type { FilteredArchitecture } from "../../../../src/worker/sandbox/shell/seccomp.ts";
import { describeShell, runScript } from "./shell-here.ts";

const architecture = process.arch as FilteredArchitecture;

const said = async (text: string): Promise<string> => (await runScript(text)).stdout.head.trim();

// System calls by number: perl is part of every Debian, and python's ctypes is not.
const call = (...words: (string | number)[]): string => `
perl -e '$! = 0; my $r = syscall(${words.join(", ")}); print $r < 0 ? ($!{EPERM} ? "EPERM" : $!{ENOSYS} ? "ENOSYS" : $! + 0) : "done"; print "\\n"'`;

const number = (name: string): number => DENIED_CALLS[name]?.[architecture] ?? -1;

describeShell("from inside the sandbox", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-outside-"));
    writeFileSync(join(folder, "secret"), "outside", { mode: 0o644 });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test("nothing of the machine is seen but programs", async () => {
    expect(await said("ls / | tr '\\n' ' '")).toBe(
      "bin dev etc input lib lib64 proc sbin scratch session tmp usr",
    );
    expect(
      await said(
        `cat ${folder}/secret /etc/passwd /root/.bashrc /home 2>/dev/null; find /etc -type f ! -path '/etc/alternatives/*'`,
      ),
    ).toBe("");
    expect(await said("ls /proc | grep -c '^[0-9]'")).toMatch(/^[1-9]$/);
  });

  test("nothing is written but scratch and temporary folders", async () => {
    const places = [
      "/",
      "/usr",
      "/usr/bin",
      "/etc",
      "/dev",
      "/input",
      "/session",
      "/proc",
      "/proc/sys/kernel",
      "/lib",
    ];
    const tries = places.map((place) => `(: >${place}/x) 2>/dev/null && echo ${place}`);
    expect(await said(tries.join("\n"))).toBe("");
    expect(await said("for f in /scratch /tmp /dev/shm; do : >$f/x && echo $f; done")).toBe(
      "/scratch\n/tmp\n/dev/shm",
    );
    const before = readFileSync("/proc/sys/kernel/core_pattern", "utf8");
    expect(
      await said(
        "find /proc/sys /proc/sysrq-trigger -writable 2>/dev/null | head -3; echo x 2>/dev/null >/proc/sys/kernel/core_pattern; echo c 2>/dev/null >/proc/sysrq-trigger; echo end",
      ),
    ).toMatch(/end$/);
    expect(readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(before);
    expect(
      await said(
        "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger; do (: >$f) 2>/dev/null && echo $f; done",
      ),
    ).toBe("");
  });

  test("nothing is mounted, and no namespace made", async () => {
    const tries = [
      "mount -t tmpfs x /tmp",
      "mount --bind /usr /tmp",
      "mount -o remount,rw /",
      "umount /proc",
      "unshare -U true",
      "unshare -r true",
      "unshare -m true",
      "nsenter -t 1 -m true",
      "chroot /usr true",
      "mknod /scratch/d c 1 1",
      "pivot_root / /tmp",
      "bwrap --ro-bind / / true",
    ];
    expect(
      await said(tries.map((text) => `(${text}) >/dev/null 2>&1 && echo '${text}'`).join("\n")),
    ).toBe("");
  });

  test("the environment and descriptors of the worker are not there", async () => {
    process.env["NIGHTDESK_TEST_SECRET"] = "hunter2";
    const found = await said(
      "cat /proc/*/environ | tr '\\0' '\\n' | grep -c -e hunter2 -e NIGHTDESK -e DATABASE_URL",
    );
    delete process.env["NIGHTDESK_TEST_SECRET"];
    expect(found).toBe("0");
    const descriptor = openSync(join(folder, "secret"), "r");
    const numbers = await said(
      "ls /proc/self/fd | tr '\\n' ' '; ls -l /proc/*/fd 2>/dev/null | grep -c secret",
    );
    closeSync(descriptor);
    expect(numbers).toBe("0 1 2 3 0");
  });

  test("no process of the machine is reached by a signal, and not the one that wraps the command", async () => {
    expect(
      await said(
        `kill -0 ${process.pid} 2>/dev/null && readlink /proc/${process.pid}/exe | grep node; echo end`,
      ),
    ).toBe("end");
    const outcome = await runScript(
      "kill -9 1; kill -9 $PPID; kill -STOP 1; echo alive; touch kept",
    );
    expect(outcome.stdout.head).toBe("alive\n");
    expect(outcome.state).toMatchObject({ kind: "saved", state: { entries: 1 } });
  });

  test("no network is reached, nor a socket of any family made", async () => {
    let connections = 0;
    const server = createServer(() => (connections += 1)).listen(0, "0.0.0.0");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(
      await said(
        `(exec 9<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo tcp; (echo x >/dev/udp/127.0.0.1/${port}) 2>/dev/null && echo udp; echo end`,
      ),
    ).toBe("end");
    // unix, inet, inet6, netlink, packet, alg, vsock
    const families = [1, 2, 10, 16, 17, 38, 40];
    const calls = families.map((family) => call(number("socket"), family, 1, 0));
    expect(await said(calls.join("\n"))).toBe(families.map(() => "EPERM").join("\n"));
    server.close();
    expect(connections).toBe(0);
    expect(
      await said("perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) and print qq(pair)'"),
    ).toBe("pair");
  });

  test("the kernel refuses every call of the table", async () => {
    const names = Object.keys(DENIED_CALLS).filter((name) => number(name) >= 0);
    const lines = names.map(
      (name) => `printf '${name} '; ${call(number(name), 0, 0, 0, 0, 0).trim()}`,
    );
    expect((await said(lines.join("\n"))).split("\n")).toEqual(
      names.map((name) => `${name} EPERM`),
    );
  });

  test("io_uring, clone3 and calls of tomorrow are not there", async () => {
    expect(await said(call(425, 8, 0))).toBe("EPERM");
    expect(await said(call(435, 0, 0))).toBe("ENOSYS");
    expect(await said(call(470, 0))).toBe("ENOSYS");
  });

  test("no program gains rights", async () => {
    expect(
      await said(
        "find /usr -xdev -perm -4000 -user 0 2>/dev/null | head -1; grep NoNewPrivs /proc/self/status; id -u",
      ),
    ).toMatch(/NoNewPrivs:\t1\n65534$/);
    expect(
      await said(
        "su -c id 2>/dev/null; sudo -n id 2>/dev/null; passwd -d root 2>/dev/null; echo end",
      ),
    ).toBe("end");
  });

  test("processes are few, and a fork bomb ends with its call", async () => {
    const limits = { ...SHELL_LIMITS, wallMs: 1500 };
    const outcome = await runScript(":(){ :|:& };: ; while :; do :; done", { limits });
    expect(outcome.ending).toEqual({ kind: "timed_out", afterMs: 1500 });
    expect(outcome.wallMs).toBeLessThan(15_000);
    const most = await said(
      "for i in {1..200}; do sleep 5 2>/dev/null & done 2>/dev/null; ls /proc | grep -c '^[0-9]'",
    );
    expect(most === "" || Number(most) <= SHELL_LIMITS.processes + 1).toBe(true);
    expect(await said("echo free")).toBe("free");
  }, 60_000);

  test("memory of a process and of folders ends where it should", async () => {
    expect(
      await said("perl -e 'my $x = \"a\" x 3_000_000_000; print length $x' 2>/dev/null; echo end"),
    ).toBe("end");
    const filled = await said(
      "for f in /scratch /tmp /dev/shm; do for i in 1 2 3; do head -c 60000000 /dev/zero 2>/dev/null >$f/$i; done; du -sm $f | cut -f1; rm -f $f/*; done",
    );
    const [scratch, tmp, shared] = filled.split("\n").map(Number);
    expect(scratch).toBeLessThanOrEqual(64);
    expect(tmp).toBeLessThanOrEqual(16);
    expect(shared).toBeLessThanOrEqual(16);
    expect(
      await said("(head -c 70000000 /dev/zero >/scratch/f) 2>/dev/null; stat -c %s /scratch/f"),
    ).toMatch(/^6\d{7}$/);
  }, 60_000);

  test("open files and processor time end where they should", async () => {
    const limits = { ...SHELL_LIMITS, cpuSeconds: 1 };
    const spun = await runScript("while :; do :; done", { limits });
    expect(spun.ending).toMatchObject({
      kind: "exited",
      signal: expect.stringMatching(/SIGKILL|SIGXCPU/),
    });
    expect(
      await said(
        "perl -e 'my @f; while (open my $f, q(<), q(/dev/null)) { push @f, $f } print scalar @f'",
      ),
    ).toMatch(/^2[45]\d$/);
  }, 30_000);

  test("the terminal and the clock are out of reach", async () => {
    expect(
      await said(
        "(exec 9<>/dev/tty) 2>/dev/null && echo tty; date -s 2020-01-01 >/dev/null 2>&1 && echo set; hostname evil 2>/dev/null && echo named; hostname",
      ),
    ).toBe("sandbox");
  });
});
