import { cleanForTerminal, jsonForTerminal } from "./terminal-text.ts";

/** stdout is data, stderr is talk. Hostile text can't drive the terminal through either. */
export type Terminal = {
  /** Whether to draw a progress bar and colours. */
  readonly isInteractive: boolean;
  /** Columns of the terminal that shows stdout, now; undefined where stdout is no terminal. */
  readonly dataColumns: number | undefined;
  /** One line of data. */
  print(line: string): Promise<void>;
  /** One line of JSON data. */
  printJson(value: unknown): Promise<void>;
  /** One line for people. */
  say(line: string): void;
  /** Replaces the last status line; only on an interactive terminal. */
  status(line: string): void;
  /** Removes the status line, before something else is said. */
  clearStatus(): void;
};

/** A terminal that does not tell its size, as under some job runners, gives 0. */
const COLUMNS_UNTOLD = 80;

/** @param color what `--no-color` and NO_COLOR leave of it */
export function openTerminal(color: "color" | "plain"): Terminal {
  const { stdout, stderr } = process;
  const isInteractive = stderr.isTTY && color === "color";
  let shown = "";
  const clearStatus = () => {
    if (shown !== "") stderr.write("\r\u001b[2K");
    shown = "";
  };
  const print = (line: string) => {
    clearStatus();
    return new Promise<void>((resolve) => {
      if (stdout.write(`${line}\n`)) resolve();
      else stdout.once("drain", resolve);
    });
  };
  return {
    isInteractive,
    get dataColumns() {
      return stdout.isTTY ? stdout.columns || COLUMNS_UNTOLD : undefined;
    },
    print: (line) => print(stdout.isTTY ? cleanForTerminal(line) : line),
    printJson: (value) => print(stdout.isTTY ? jsonForTerminal(value) : JSON.stringify(value)),
    say(line) {
      clearStatus();
      stderr.write(`${cleanForTerminal(line)}\n`);
    },
    status(line) {
      if (!isInteractive) return;
      // One column stays free: a full line would wrap, and its first half could not be taken back.
      const fitting = cutTo(cleanForTerminal(line), (stderr.columns || COLUMNS_UNTOLD) - 1);
      if (fitting === shown) return;
      stderr.write(`\r\u001b[2K${fitting}`);
      shown = fitting;
    },
    clearStatus,
  };
}

const cutTo = (line: string, characters: number): string =>
  line.length <= characters ? line : `${line.slice(0, characters - 1)}…`;
