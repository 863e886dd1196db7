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
 * stdout is data, stderr is talk. Hostile text can't drive a terminal through either, also not through a pipe or a file
 * that somebody looks at later.
 */
export type Terminal = {
  /** Whether a program reads stdout, and gets JSON: `--json`. */
  readonly isJson: boolean;
  /** Whether to draw a progress bar. */
  readonly isInteractive: boolean;
  /** Columns of the terminal that shows stdout, now; undefined where stdout is no terminal. */
  readonly dataColumns: number | undefined;
  /** The zone of the times that people read on stdout; null where they are in UTC: for programs, files and pipes. */
  readonly zone: string | null;
  /** One line of data: a line feed in it is shown. */
  print(line: Line): Promise<void>;
  /** Lines of data. */
  printText(text: string): Promise<void>;
  /** One line of JSON data. */
  printJson(value: unknown): Promise<void>;
  /** The same for JSON that is written already. */
  printJsonText(json: string): Promise<void>;
  /** One line for people: a line feed in it is shown. On a terminal it is broken between words. */
  say(line: Line): void;
  /** Replaces the last status line; only on an interactive terminal. */
  status(line: string): void;
  /** Removes the status line, before something else is said. */
  clearStatus(): void;
};

/** A terminal that does not tell its size, as under some job runners, gives 0. */
const COLUMNS_UNTOLD = 80;

/** One of the two streams of a process; columns and isTTY only where it leads to a terminal. */
type Stream = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): boolean;
  once(event: "drain", listener: () => void): unknown;
};

/** What a command writes to. */
export type Screen = { readonly stdout: Stream; readonly stderr: Stream };

/** `auto`: colour where a terminal shows it. */
export type ColorChoice = "auto" | "always" | "never";

type TerminalOptions = {
  readonly screen: Screen;
  /** `never` takes the progress bar away, too. */
  readonly color: ColorChoice;
  /** raw: data is printed as it is, for somebody who wants its bytes. */
  readonly data: "clean" | "raw";
  readonly isJson: boolean;
  /** Tells the IANA zone of the clocks here; null where times are for programs. Asked when a time is printed: it costs 20 ms. */
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
      // One column stays free: a full line would wrap, and its first half could not be taken back.
      const fitting = cutToColumns(cleanLine(line), (stderr.columns || COLUMNS_UNTOLD) - 1);
      if (fitting === shown) return;
      stderr.write(`\r\u001b[2K${fitting}`);
      shown = fitting;
    },
    clearStatus,
  };
}
