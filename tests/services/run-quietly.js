import { execFile } from "node:child_process";

/**
 * Runs a program without showing its output.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").ExecFileOptions} options; `timeout` in milliseconds, 10 s by default
 * @returns {Promise<{ ok: boolean, stdout: string, stderr: string }>} `ok` is false when the program is missing, fails
 *   or takes too long
 */
export function runQuietly(command, args, options = {}) {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: 10_000, ...options }, (error, stdout, stderr) => {
      resolve({ ok: error === null, stdout: String(stdout), stderr: String(stderr) });
    });
  });
}
