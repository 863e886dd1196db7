import { forEachChild, parse } from "unbash";
import type { Command, ParsedScript, Redirection, Statement, SyntaxNode, Word } from "unbash";

/** One simple command, as the program and its arguments. */
export type SimpleCommand = {
  /** Not quoted, and without a folder. */
  readonly name: string;
  readonly words: readonly string[];
  readonly errors: ErrorStream;
};

/** Where stderr goes: `dropped` by `2>/dev/null`, `joined` by `2>&1`. */
export type ErrorStream = "kept" | "dropped" | "joined";

/** A simple command, or several, each of which reads the output of the one before it. */
type Pipe = { readonly kind: "pipe"; readonly commands: readonly SimpleCommand[] };

/** Why a text is no pipe of simple commands. */
export type ComplexReason =
  | "characters"
  | "length"
  | "syntax"
  | "several_commands"
  | "background"
  | "assignment"
  | "redirection"
  | "expansion"
  | "command_word";

export type ComplexCommand = { readonly kind: "complex"; readonly reason: ComplexReason };

const complex = (reason: ComplexReason): ComplexCommand => ({ kind: "complex", reason });

// Printable ASCII, letters and digits: no other space, no line separator, no invisible character.
const VISIBLE = /^[\x20-\x7e\p{L}\p{N}]+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** Characters of a command that may run without approval: for some texts the parser takes quadratic time. */
const MOST_CHARS = 4096;

/**
 * Reads a text as bash does, by a parser of its whole grammar. A text with another operator than `|`, a substitution, a
 * variable, a pattern, a redirection (but `2>/dev/null` and `2>&1`) or an assignment is complex. Pure.
 */
export function readPipe(text: string): Pipe | ComplexCommand {
  if (text.length > MOST_CHARS) return complex("length");
  if (!VISIBLE.test(text) || INVISIBLE.test(text)) return complex("characters");
  const script = parseText(text);
  if (script === null || (script.errors !== undefined && script.errors.length > 0)) {
    return complex("syntax");
  }
  const [statement, ...others] = script.commands;
  if (statement === undefined || script.shebang !== undefined) return complex("syntax");
  if (others.length > 0) return complex("several_commands");
  if (statement.background === true) return complex("background");
  return readCommands(statement.command);
}

function readCommands(node: Statement["command"]): Pipe | ComplexCommand {
  const isPlain =
    node.type === "Command" ||
    (node.type === "Pipeline" &&
      node.prefixes.length === 0 &&
      node.operators.every((operator) => operator === "|"));
  if (!isPlain) return complex("several_commands");
  const commands: SimpleCommand[] = [];
  for (const one of node.type === "Command" ? [node] : node.commands) {
    const read = one.type === "Command" ? readSimple(one) : complex("several_commands");
    if ("kind" in read) return read;
    commands.push(read);
  }
  return { kind: "pipe", commands };
}

function readSimple({ name, prefix, suffix }: Command): SimpleCommand | ComplexCommand {
  if (prefix.length > 0) {
    return complex(prefix.some(({ type }) => type === "Assignment") ? "assignment" : "redirection");
  }
  if (name === undefined || name.text !== name.value || !/^[a-z][a-z0-9_+-]*$/.test(name.text)) {
    return complex("command_word");
  }
  const words: string[] = [];
  let errors: ErrorStream = "kept";
  for (const item of suffix) {
    if (item.type === "Word") {
      const value = readWord(item);
      if (value === null) return complex("expansion");
      words.push(value);
      continue;
    }
    if (item.type === "Assignment") return complex("assignment");
    const redirected: ErrorStream | null = errors === "kept" ? readRedirection(item) : null;
    if (redirected === null) return complex("redirection");
    errors = redirected;
  }
  return { name: name.text, words, errors };
}

function readRedirection(item: Redirection): ErrorStream | null {
  if (item.type !== "Redirect" || item.descriptor?.type !== "FileDescriptor") return null;
  if (item.descriptor.value !== 2 || item.target?.parts !== undefined) return null;
  if (item.operator === ">" && item.target?.text === "/dev/null") return "dropped";
  return item.operator === ">&" && item.target?.text === "1" ? "joined" : null;
}

// Characters that bash does not change without quotes.
const PLAIN = /^[\p{L}\p{N}_./,:@%+=^!#-]+$/u;

/** The value of a word if bash does not change it, otherwise null. */
function readWord({ text, value, parts }: Word): string | null {
  if (parts === undefined) return PLAIN.test(text) ? value : null;
  const isFixed = parts.every((part) => {
    if (part.type === "SingleQuoted") return true;
    if (part.type === "Literal") return PLAIN.test(part.text);
    return part.type === "DoubleQuoted" && part.parts.every(({ type }) => type === "Literal");
  });
  return isFixed ? value : null;
}

/** Null for a text that is nested deeper than the parser's stack (`f()f()f()…`). */
function parseText(text: string): ParsedScript | null {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The words of every command in a script, at any depth, as far as they are fixed: name first. Null for a script that can't be
 * parsed.
 */
export function listCommands(text: string): readonly (readonly string[])[] | null {
  const script = parseText(text);
  if (script === null || (script.errors?.length ?? 0) > 0) return null;
  const commands: (readonly string[])[] = [];
  const waiting: SyntaxNode[] = [script];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.type === "Command") {
      const words = [node.name, ...node.suffix].filter((item) => item?.type === "Word");
      commands.push(words.map(({ value }) => value));
    }
    forEachChild(node, (child) => {
      waiting.push(child);
    });
  }
  return commands;
}
