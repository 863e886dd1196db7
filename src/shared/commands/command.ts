import type { Screen } from "../terminal/terminal.ts";

/** A command of `nightdesk` as data, from which help, completion and parsing are built. */
export type Command = {
  /** Words after `nightdesk`, such as `enqueue` or `batch show`. */
  readonly name: string;
  /** The process that runs it: the folder under src/. */
  readonly process: "producer" | "worker" | "embedded" | "dashboard" | "serve";
  readonly summary: string;
  readonly examples: readonly string[];
  readonly arguments: readonly CommandArgument[];
  readonly options: readonly CommandOption[];
  /** Works in a folder of documents without a configuration, which is then generated. */
  readonly anyFolder?: true;
  /** Not in help or completion: Nightdesk starts it itself. */
  readonly hidden?: true;
};

/** Commands by their words. The default process is the producer. */
export type CommandTable = Readonly<Record<string, ListedCommand>>;

type ListedCommand = Omit<Command, "name" | "process" | "arguments" | "options"> & {
  readonly process?: Command["process"];
  /** Descriptions by Commander's notation. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly options?: OptionTable;
};

/** Descriptions of options by Commander's notation. */
export type OptionTable = Readonly<Record<string, string | Omit<CommandOption, "flags">>>;

export type CommandArgument = {
  /** Commander's notation: `<file>`, `[text]`, `<path...>`. */
  readonly usage: string;
  readonly description: string;
};

export type CommandOption = {
  /** Commander's notation: `--limit <n>`, `--no-wait`. */
  readonly flags: string;
  readonly description: string;
  /** `list`: the flag can be repeated, one value each. */
  readonly kind?: "count" | "port" | "text" | "list";
  readonly choices?: readonly string[];
  readonly hidden?: true;
};

/** What main.ts passes to a command. */
export type Invocation = {
  readonly command: Command;
  readonly args: readonly string[];
  /** Values by camelCase name; a `--no-x` flag is `x: false`. */
  readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly screen: Screen;
  /** The folder of package.json, configs/, migrations/ and bin/. */
  readonly packageRoot: string;
  readonly version: string;
};

/** Runs a command and returns its exit code; 0 by default. */
export type CommandHandler = (invocation: Invocation) => Promise<number> | Promise<void>;

/** Loads the handler of each command name of one process, and nothing else. */
export type CommandHandlers = Readonly<Record<string, () => Promise<CommandHandler>>>;
