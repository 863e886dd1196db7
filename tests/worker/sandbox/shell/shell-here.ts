import { describe, test } from "@jest/globals";
import type { ShellOutcome, ShellRequest } from "../../../../src/worker/sandbox/shell/executor.ts";
import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import { probeShell } from "../../../../src/worker/sandbox/shell/probe.ts";

export const shellHere = await probeShell();

/** Suites that run commands: where this machine has no shell they are skipped, and say why. */
export function describeShell(name: string, body: () => void): void {
  if (shellHere.kind === "available") {
    describe(name, body);
    return;
  }
  describe.skip(`${name} (no shell on this machine: ${shellHere.reason}: ${shellHere.message})`, () => {
    test("is skipped", () => undefined);
  });
}

export type Ended = Extract<ShellOutcome, { kind: "ended" }>;

/** Runs one request in the sandbox of this machine, without inputs and state unless given. */
export async function runHere(
  request: Partial<ShellRequest> & Pick<ShellRequest, "command">,
  signal: AbortSignal = new AbortController().signal,
): Promise<ShellOutcome> {
  if (shellHere.kind !== "available") throw new Error("no shell on this machine");
  return shellHere.executor.run(
    { inputs: [], state: null, limits: SHELL_LIMITS, sink: { write: () => undefined }, ...request },
    signal,
  );
}

/** The same for a script that is expected to run. */
export async function runScript(text: string, request: Partial<ShellRequest> = {}): Promise<Ended> {
  const outcome = await runHere({ ...request, command: { kind: "script", text } });
  if (outcome.kind !== "ended") throw new Error(`${outcome.reason}: ${outcome.message}`);
  return outcome;
}
