import type { ShellProbe } from "../sandbox/shell/probe.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** What this machine has to run commands with, and how their memory is limited. */
export function checkShell(probe: ShellProbe): Check {
  if (probe.kind === "unavailable") {
    return warn(
      "DOCTOR_SHELL_DISABLED",
      `There is no sandbox for commands on this machine, so the tool shell is disabled: ${probe.reason}. ${probe.message}`,
      "Nothing, unless investigations here are to have the preset shell_sandboxed.",
    );
  }
  const memory =
    probe.memoryWhy === null
      ? "memory is limited in all, by cgroup v2"
      : `memory is limited for each process alone, by prlimit: ${probe.memoryWhy}`;
  return ok("DOCTOR_SHELL_OK", `Commands run in the sandbox of ${probe.bubblewrap}; ${memory}.`);
}
