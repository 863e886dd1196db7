import { expect, test } from "@jest/globals";
import { checkShell } from "../../../src/worker/doctor/check-tools.ts";
import { probeShell, THIS_MACHINE } from "../../../src/worker/sandbox/shell/probe.ts";
import { shellHere } from "../sandbox/shell/shell-here.ts";

test("says what there is, and how memory is limited", () => {
  const check = checkShell(shellHere);
  if (shellHere.kind === "available") {
    expect(check).toMatchObject({ level: "ok", code: "DOCTOR_SHELL_OK" });
    expect(check.message).toMatch(/by prlimit: |by cgroup v2/);
  } else {
    expect(check.message).toContain(shellHere.message);
  }
});

test("warns where there is none, and says why", async () => {
  const probe = await probeShell({ ...THIS_MACHINE, programs: [] });
  expect(checkShell(probe)).toMatchObject({
    level: "warn",
    code: "DOCTOR_SHELL_DISABLED",
    message: expect.stringContaining("bubblewrap is not installed"),
  });
});
