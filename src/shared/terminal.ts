import { cleanLine, cleanLines, escapeInJson } from "./terminal-text.ts";

/**
 * stdout is data, stderr is talk. Hostile text can't drive a terminal through either, also not through a pipe or a file
 * that somebody looks at later.
 */
export type Terminal = {
  /** Whether to draw a progress bar and colours. */
  readonly isInteractive: boolean;
  /** Columns of the terminal that shows stdout, now; undefined where stdout is no terminal. */
  readonly dataColumns: number | undefined;
  /** One line of data: a line feed in it is shown. */
  print(line: string): Promise<void>;
  /** Lines of data. */
  printText(text: string): Promise<void>;
  /** One line of JSON data. */
  printJson(value: unknown): Promise<void>;
  /** The same for JSON that is written already. */
  printJsonText(json: string): Promise<void>;
  /** One line for people: a line feed in it is shown. */
  say(line: string): void;
  /** Replaces the last status line; only on an interactive terminal. */
  status(line: string): void;
  /** Removes the status line, before something else is said. */
  clearStatus(): void;
};

/** A terminal that does not tell its size, as under some job runners, gives 0. */
const COLUMNS_UNTOLD = 80;

export type TerminalOptions = {
  /** What `--no-color` and NO_COLOR leave of it. */
  readonly color: "color" | "plain";
  /** raw: data is printed as it is, for somebody who wants its bytes. */
  readonly data: "clean" | "raw";
};

export function openTerminal({ color, data }: TerminalOptions): Terminal {
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
  const printJsonText = (json: string) => print(data === "raw" ? json : escapeInJson(json));
  return {
    isInteractive,
    get dataColumns() {
      return stdout.isTTY ? stdout.columns || COLUMNS_UNTOLD : undefined;
    },
    print: (line) => print(data === "raw" ? line : cleanLine(line)),
    printText: (text) => print(data === "raw" ? text : cleanLines(text)),
    printJson: (value) => printJsonText(JSON.stringify(value)),
    printJsonText,
    say(line) {
      clearStatus();
      stderr.write(`${cleanLine(line)}\n`);
    },
    status(line) {
      if (!isInteractive) return;
      // One column stays free: a full line would wrap, and its first half could not be taken back.
      const fitting = cutTo(cleanLine(line), (stderr.columns || COLUMNS_UNTOLD) - 1);
      if (fitting === shown) return;
      stderr.write(`\r\u001b[2K${fitting}`);
      shown = fitting;
    },
    clearStatus,
  };
}

const cutTo = (line: string, characters: number): string =>
  line.length <= characters ? line : `${line.slice(0, characters - 1)}…`;
