import { CommanderError, Command as Program, InvalidArgumentError, Option } from "commander";
import { Failure } from "../failure.ts";
import type { Command, CommandOption } from "./command.ts";
import { COMMANDS, GLOBAL_OPTIONS, GROUP_SUMMARIES } from "./table.ts";

type Values = Readonly<Record<string, string | number | boolean | undefined>>;
type Execute = (command: Command, args: readonly string[], options: Values) => Promise<void>;

/** Commander's program of all commands. @param execute is called with the parsed command line */
export function buildProgram(version: string, execute: Execute): Program {
  const program = new Program("nightdesk")
    .description(
      "Queue work over your own files in the evening; read answers with evidence in the morning.",
    )
    .version(version)
    .addHelpText("before", examplesOf(TOP_EXAMPLES))
    .showSuggestionAfterError()
    // main.ts prints errors, in the format that the command line asks for.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  for (const option of GLOBAL_OPTIONS) program.addOption(toOption(option));

  const groups = new Map<string, Program>();
  for (const command of COMMANDS) {
    const words = command.name.split(" ");
    const parent = groupOf(program, groups, words.slice(0, -1));
    const sub = addCommand({ program, parent, word: words.at(-1) ?? "" }, command, execute);
    groups.set(command.name, sub);
  }
  return program;
}

const TOP_EXAMPLES = [
  "nightdesk index",
  'nightdesk ask "How much diesel does the Bear burn under kitchen load?" --wait',
  "nightdesk enqueue tonight.jsonl --wait",
  `nightdesk sql "select state, count(*) from results group by 1"`,
];

/** The group of a command: words without an action, or a command that precedes it in the table. */
function groupOf(
  program: Program,
  groups: Map<string, Program>,
  words: readonly string[],
): Program {
  const word = words.at(-1);
  if (word === undefined) return program;
  const name = words.join(" ");
  const known = groups.get(name);
  if (known !== undefined) return known;
  const group = groupOf(program, groups, words.slice(0, -1))
    .command(word)
    .description(GROUP_SUMMARIES[name] ?? name)
    .exitOverride();
  groups.set(name, group);
  return group;
}

type ParentCommand = { readonly program: Program; readonly parent: Program; readonly word: string };

function addCommand(
  { program, parent, word }: ParentCommand,
  command: Command,
  execute: Execute,
): Program {
  const sub = parent
    .command(word, { hidden: command.hidden === true })
    .description(command.summary)
    .addHelpText("before", examplesOf(command.examples))
    .showSuggestionAfterError()
    .exitOverride();
  for (const { usage, description } of command.arguments) sub.argument(usage, description);
  for (const option of [...command.options, ...GLOBAL_OPTIONS]) sub.addOption(toOption(option));
  sub.action(async () => {
    await execute(command, sub.args, optionsOf(program, sub));
  });
  return sub;
}

/** An option after the command wins over the same option in front of it, and both win over the default. */
function optionsOf(program: Program, sub: Program): Values {
  const values: Record<string, Values[string]> = { ...program.opts<Values>() };
  for (const [name, value] of Object.entries(sub.opts<Values>())) {
    if (!(name in values) || sub.getOptionValueSource(name) !== "default") values[name] = value;
  }
  return values;
}

function toOption({ flags, description, kind, choices, hidden }: CommandOption): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices([...choices]);
  if (kind === "count") option.argParser(parseCount);
  if (kind === "port") option.argParser(parsePort);
  if (kind === "list") option.argParser(addToList);
  if (hidden === true) option.hideHelp();
  return option;
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError(`${JSON.stringify(text)} is not a whole number from 1.`);
  }
  return Number(text);
}

/** 0 means any free port. */
function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MOST_PORT) return Number(text);
  throw new InvalidArgumentError(`${JSON.stringify(text)} is no port: 0 to ${MOST_PORT}.`);
}
const MOST_PORT = 65_535;

/** `before` is false after `--no-windows`: the later option wins. */
const addToList = (text: string, before?: readonly string[] | false): readonly string[] => [
  ...(before === undefined || before === false ? [] : before),
  text,
];

const examplesOf = (examples: readonly string[]): string =>
  examples.length === 0 ? "" : `Examples:\n${examples.map((line) => `  ${line}`).join("\n")}\n`;

type ReadWords = {
  readonly command: Command;
  readonly args: readonly string[];
  /** Values by camelCase name. */
  readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
};

const ASKS_FOR_HELP = new Set(["help", "--help", "-h", "--version", "-V"]);

/**
 * Parses the words after `nightdesk` as the command line would, without running the command.
 * @returns the command, or what is wrong with the words
 */
export function parseCommandWords(
  words: readonly string[],
): ({ readonly ok: true } & ReadWords) | { readonly ok: false; readonly reason: string } {
  const help = words.find((word) => ASKS_FOR_HELP.has(word));
  if (help !== undefined) return { ok: false, reason: `${help} does nothing` };
  let read: ReadWords | undefined;
  const program = buildProgram("", async (command, args, options) => {
    read = { command, args, options };
  });
  program.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  try {
    program.parse([...words], { from: "user" });
  } catch (error) {
    return { ok: false, reason: wordsOf(error) };
  }
  return read === undefined ? { ok: false, reason: "no command is named" } : { ok: true, ...read };
}

/** Commander's message about an invalid command line. */
function wordsOf(error: unknown): string {
  if (error instanceof CommanderError) return plainWords(error.message);
  throw error;
}

/** Commander's message about an invalid command line, in one line with a hint at --help. */
export function usageFailure({ code, message }: CommanderError): Failure {
  // Commander uses this code after it has printed help because no command was named.
  if (code === "commander.help") {
    return new Failure("USAGE_ERROR", "Name one of these commands; nightdesk --help lists all.");
  }
  const name =
    code === "commander.unknownOption" ? /'(-[^']*\.[^']*)'/.exec(message)?.[1] : undefined;
  const hint =
    name === undefined
      ? "--help shows what is possible."
      : `where it is the name of a file, write ./${name}, or put -- before it and behind all options.`;
  return new Failure("USAGE_ERROR", `${plainWords(message)}; ${hint}`);
}

/** Commander's message as a clause on one line, without its "error:". */
const plainWords = (message: string): string =>
  message
    .replace(/^error: /, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
    .replace(/[.]$/, "");
