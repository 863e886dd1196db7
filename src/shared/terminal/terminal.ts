import {
  cleanLine,
  cleanLines,
  cutToColumns,
  escapeInJson,
  layOutLines,
  mapTexts,
  renderLine,
} from "./styled-text.ts";
import type { Line } from "./styled-text.ts";

/**
 * stdout has data, stderr has messages. Hostile text can't drive a terminal through either, not even later through a pipe or a
 * file that is shown.
 */
export type Terminal = {
  /** Whether stdout is JSON for a program: `--json`. */
  readonly isJson: boolean;
  /** Whether to draw a progress bar. */
  readonly isInteractive: boolean;
  /** The current columns of the terminal behind stdout; undefined if stdout is no terminal. */
  readonly dataColumns: number | undefined;
  /** The timezone for times on stdout; null for UTC: for programs, files and pipes. */
  readonly zone: string | null;
  /** Prints one line of data; a line feed in it becomes visible. */
  print(line: Line): Promise<void>;
  /** Prints lines of data. */
  printText(text: string): Promise<void>;
  /** Prints one line of JSON. */
  printJson(value: unknown): Promise<void>;
  /** The same for serialised JSON. */
  printJsonText(json: string): Promise<void>;
  /** Prints one line for people on stderr; a line feed in it becomes visible. A terminal wraps it between words. */
  say(line: Line): void;
  /** Replaces the last status line; only on an interactive terminal. */
  status(line: string): void;
  /** Removes the status line, before other output. */
  clearStatus(): void;
};

/** Used for a terminal that reports a size of 0, as under some job runners. */
const COLUMNS_UNTOLD = 80;

/** One of the two output streams; columns and isTTY are set only for a terminal. */
type Stream = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): boolean;
  once(event: "drain", listener: () => void): unknown;
};

/** The output streams of a command. */
export type Screen = { readonly stdout: Stream; readonly stderr: Stream };

/** `auto`: colour on a terminal. */
export type ColorChoice = "auto" | "always" | "never";

type TerminalOptions = {
  readonly screen: Screen;
  /** `never` also removes the progress bar. */
  readonly color: ColorChoice;
  /** raw: prints data unchanged, for users who want its bytes. */
  readonly data: "clean" | "raw";
  readonly isJson: boolean;
  /** Returns the IANA timezone; null if times are for programs. Called only when a time is printed, because it costs 20 ms. */
  readonly zone: () => string | null;
};

const asIs = (text: string): string => text;

const columnsOf = ({ isTTY, columns }: Stream): number | undefined =>
  isTTY === true ? columns || COLUMNS_UNTOLD : undefined;

export function openTerminal({ screen, color, data, isJson, zone }: TerminalOptions): Terminal {
  const { stdout, stderr } = screen;
  const isInteractive = stderr.isTTY === true && color !== "never";
  const colorOf = ({ isTTY }: Stream) =>
    color === "always" || (color === "auto" && isTTY === true) ? "color" : "plain";
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
    isJson,
    isInteractive,
    get zone() {
      return stdout.isTTY === true ? zone() : null;
    },
    get dataColumns() {
      return columnsOf(stdout);
    },
    print: (line) => print(renderLine(line, colorOf(stdout), data === "raw" ? asIs : cleanLine)),
    printText: (text) => print(data === "raw" ? text : cleanLines(text)),
    printJson: (value) => printJsonText(JSON.stringify(value)),
    printJsonText,
    say(line) {
      clearStatus();
      for (const part of layOutLines([mapTexts(line, cleanLine)], columnsOf(stderr)))
        stderr.write(`${renderLine(part, colorOf(stderr), cleanLine)}\n`);
    },
    status(line) {
      if (!isInteractive) return;
      // One column stays free: a full line would wrap, and its first half could not be erased.
      const fitting = cutToColumns(cleanLine(line), (stderr.columns || COLUMNS_UNTOLD) - 1);
      if (fitting === shown) return;
      stderr.write(`\r\u001b[2K${fitting}`);
      shown = fitting;
    },
    clearStatus,
  };
}
