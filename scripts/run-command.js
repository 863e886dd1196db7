import { spawn } from "node:child_process";
import { constants } from "node:os";

const exitCodeOf = (code, signal) => code ?? 128 + constants.signals[signal];

/**
 * Runs a program to its end and hands SIGTERM, SIGHUP and SIGINT on to it.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options as of `spawn`; stdio is inherited by default
 * @returns {Promise<number>} the exit code, 128 + n for a death by signal n; rejects when the program cannot start
 */
export async function runCommand(command, args, options = {}) {
  const child = spawn(command, args, { stdio: "inherit", ...options });
  const stopPassing = passSignals(child);
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve(exitCodeOf(code, signal)));
    });
  } finally {
    stopPassing();
  }
}

function passSignals(child) {
  // A terminal sends Ctrl-C to the whole foreground group: passing it on as well would count as a second one.
  const passInterrupt = () => process.stdin.isTTY || child.kill("SIGINT");
  const handlers = {
    SIGINT: passInterrupt,
    SIGTERM: () => child.kill("SIGTERM"),
    SIGHUP: () => child.kill("SIGHUP"),
  };
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
  };
}
