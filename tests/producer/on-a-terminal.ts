import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");

/**
 * Runs the bin in a pseudo terminal of script(1).
 * @param words as a shell reads them
 * @returns everything that the terminal was sent, stdout and stderr together, and the status
 */
export async function runOnTerminal(
  words: string,
  { cwd, columns }: { readonly cwd: string; readonly columns: number },
): Promise<{ readonly screen: string; readonly code: number }> {
  const command = `stty cols ${columns} rows 24; exec '${process.execPath}' '${bin}' ${words}`;
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", SHELL: "/bin/sh" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
  });
  await once(child, "close");
  return { screen, code: child.exitCode ?? -1 };
}
