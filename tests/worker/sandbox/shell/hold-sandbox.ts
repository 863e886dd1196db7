import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import { probeShell } from "../../../../src/worker/sandbox/shell/probe.ts";

// A worker that is killed while its command runs: it says that the command is on, and waits.
const shell = await probeShell();
if (shell.kind === "available") {
  await shell.executor.run(
    {
      command: { kind: "script", text: "sleep 3456.5 & setsid sleep 3456.5 & echo on; wait" },
      inputs: [],
      state: null,
      limits: SHELL_LIMITS,
      sink: {
        write: (_stream, piece) => {
          process.stdout.write(piece);
        },
      },
    },
    new AbortController().signal,
  );
}
