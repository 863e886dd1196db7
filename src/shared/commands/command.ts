import type { Screen } from "../terminal/terminal.ts";

/** A command of the `nightdesk` bin, as data: help, completion and parsing all come from it. */
export type Command = {
  /** Words after `nightdesk`, such as `enqueue` or `batch show`. */
  readonly name: string;
  /** The process that runs it: the folder under src/. */
  readonly process: "producer" | "worker" | "embedded" | "dashboard" | "serve";
  readonly summary: string;
  readonly examples: readonly string[];
  readonly arguments: readonly CommandArgument[];
  readonly options: readonly CommandOption[];
  /** Works in a folder of documents that has no configuration: it is made. */
  readonly anyFolder?: true;
  /** Not in help or completion: started by Nightdesk itself. */
  readonly hidden?: true;
};

/** Commands by their words; without a process one is of the producer. */
export type CommandTable = Readonly<Record<string, ListedCommand>>;

type ListedCommand = Omit<Command, "name" | "process" | "arguments" | "options"> & {
  readonly process?: Command["process"];
  /** What each argument is, by Commander's notation. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly options?: OptionTable;
};

/** What each option does, by Commander's notation. */
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
  /** `list`: the flag may be given again, one value each. */
  readonly kind?: "count" | "port" | "text" | "list";
  readonly choices?: readonly string[];
  readonly hidden?: true;
};

/** What main.ts hands to a command. */
export type Invocation = {
  readonly command: Command;
  readonly args: readonly string[];
  /** Values by camelCase name; a `--no-x` flag is `x: false`. */
  readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly screen: Screen;
  /** Folder of package.json: configs/, migrations/ and bin/ lie in it. */
  readonly packageRoot: string;
  readonly version: string;
};

/** Runs a command and gives its exit code; 0 where it gives none. */
export type CommandHandler = (invocation: Invocation) => Promise<number> | Promise<void>;

/** Loads the handler of each command name of one process, and nothing else. */
export type CommandHandlers = Readonly<Record<string, () => Promise<CommandHandler>>>;
