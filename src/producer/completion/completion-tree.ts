import type { Command, CommandOption } from "../../shared/commands/command.ts";
import { GROUP_SUMMARIES } from "../../shared/commands/table.ts";

/** A command or a group of commands, and the words that may follow it. */
export type CompletionNode = {
  /** Words after `nightdesk`: empty for the bin itself. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly words: readonly { readonly word: string; readonly summary: string }[];
  readonly flags: readonly CompletionFlag[];
  /** Whether an argument may be a file. */
  readonly takesFiles: boolean;
};

export type CompletionFlag = {
  /** `--limit`. */
  readonly flag: string;
  readonly description: string;
  /** undefined: the flag takes no value. A list: one of these. `file`, `text`: the kind of its value. */
  readonly value: readonly string[] | "file" | "text" | undefined;
};

/** Every position where the shell can request a completion, the bin first. Hidden commands and flags are left out. */
export function completionTree(
  commands: readonly Command[],
  globalOptions: readonly CommandOption[],
): readonly CompletionNode[] {
  const visible = commands.filter(({ hidden }) => hidden !== true);
  const common = globalOptions.map(toFlag);
  const names = new Set(visible.map(({ name }) => name));
  const groups = [...new Set(visible.flatMap(groupsOf))].filter((name) => !names.has(name));
  const group = (path: readonly string[], summary: string): CompletionNode => ({
    path,
    summary,
    words: wordsAfter(visible, path),
    flags: common,
    takesFiles: false,
  });
  return [
    group([], "nightdesk"),
    ...groups.map((name) => group(name.split(" "), summaryOfGroup(name))),
    ...visible.map((command) => leaf(command, visible, common)),
  ];
}

const summaryOfGroup = (word: string): string => GROUP_SUMMARIES[word] ?? word;
/** The groups of a command: `approvals`, `approvals rules` for `approvals rules add`. */
function groupsOf({ name }: Command): readonly string[] {
  const words = name.split(" ");
  return words.slice(1).map((_, at) => words.slice(0, at + 1).join(" "));
}

function leaf(
  command: Command,
  commands: readonly Command[],
  common: readonly CompletionFlag[],
): CompletionNode {
  const usages = command.arguments.map(({ usage }) => usage);
  const shells = command.name === "completion" ? ["bash", "zsh", "fish"] : [];
  return {
    path: command.name.split(" "),
    summary: command.summary,
    words: [
      ...shells.map((word) => ({ word, summary: `for ${word}` })),
      ...wordsAfter(commands, command.name.split(" ")),
    ],
    flags: [...command.options.filter(({ hidden }) => hidden !== true).map(toFlag), ...common],
    takesFiles: usages.some((usage) => /file|path/.test(usage)),
  };
}

function wordsAfter(
  commands: readonly Command[],
  path: readonly string[],
): CompletionNode["words"] {
  const words = new Map<string, string>();
  for (const { name, summary } of commands) {
    const parts = name.split(" ");
    if (!path.every((word, index) => parts[index] === word)) continue;
    const word = parts[path.length];
    if (word !== undefined && !words.has(word))
      words.set(
        word,
        parts.length > path.length + 1 ? summaryOfGroup([...path, word].join(" ")) : summary,
      );
  }
  return [...words].map(([word, summary]) => ({ word, summary }));
}

function toFlag({ flags, description, choices }: CommandOption): CompletionFlag {
  const [flag = flags, value] = flags.split(" ");
  return { flag, description, value: choices ?? valueKind(value) };
}

function valueKind(value: string | undefined): CompletionFlag["value"] {
  if (value === undefined) return undefined;
  return /file|folder|queries/.test(value) ? "file" : "text";
}

/** `batch wait`; empty for the bin itself. */
export const nameOf = ({ path }: CompletionNode): string => path.join(" ");

/** How a script walks the command line: after `typed` (the command so far and the next word) the command is `command`. */
export const stepsOf = (
  nodes: readonly CompletionNode[],
): readonly { readonly typed: string; readonly command: string }[] =>
  nodes.flatMap((node) => {
    const word = node.path.at(-1);
    if (word === undefined) return [];
    return [{ typed: `${node.path.slice(0, -1).join(" ")} ${word}`, command: nameOf(node) }];
  });
