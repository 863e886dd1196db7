import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");

type Place = { readonly cwd: string; readonly columns: number };

/** What a terminal was sent in the end, stdout and stderr together, and the status of the command. */
type Left = { readonly screen: string; readonly code: number };

/** A command that runs in a pseudo terminal of script(1), on which somebody types. */
export type OpenTerminal = {
  /** Waits until the screen shows a text that was not waited for yet. @throws Error after 20 s, with the screen */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  /** Everything that the terminal was sent so far. */
  readonly screen: string;
  readonly left: Promise<Left>;
};

/** Runs the bin in a pseudo terminal, with nobody who types. @param words as a shell reads them */
export async function runOnTerminal(words: string, place: Place): Promise<Left> {
  return openOnTerminal(words, place, "ignore").left;
}

/** Runs the bin in a pseudo terminal. @param words as a shell reads them; `before` stands before the bin, as `echo 2 |` */
export function openOnTerminal(
  words: string,
  { cwd, columns, before = "exec" }: Place & { readonly before?: string },
  input: "pipe" | "ignore" = "pipe",
): OpenTerminal {
  const command = `stty cols ${columns} rows 24; ${before} '${process.execPath}' '${bin}' ${words}`;
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", SHELL: "/bin/sh" },
    stdio: [input, "pipe", "inherit"],
  });
  let screen = "";
  let seen = 0;
  let changed = (): void => undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    changed();
  });
  const left = once(child, "close").then(() => ({ screen, code: child.exitCode ?? -1 }));
  return {
    async shows(text) {
      const deadline = setTimeout(() => {
        changed();
      }, 20_000);
      const began = performance.now();
      for (let at = screen.indexOf(text, seen); ; at = screen.indexOf(text, seen)) {
        if (at !== -1) {
          seen = at + text.length;
          break;
        }
        if (performance.now() - began > 19_900)
          throw new Error(`the terminal never showed ${JSON.stringify(text)}:\n${screen}`);
        await new Promise<void>((wake) => {
          changed = wake;
        });
      }
      clearTimeout(deadline);
    },
    type(keys) {
      child.stdin?.write(keys);
    },
    get screen() {
      return screen;
    },
    left,
  };
}
