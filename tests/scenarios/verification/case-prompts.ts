import type { DoubleMessage } from "../../doubles/ollama/double-model.ts";

/** Which part a model is asked to take, by the first words of the prompt. */
const PARTS = [
  ["You choose what has to be read", "first"],
  ["You answer a question from numbered", "draft"],
  ["You summarise", "draft"],
  ["You take fields out of", "draft"],
  ["You look into a question with tools", "look"],
  ["You prepare the audit of an answer", "decompose"],
  ["You are an auditor who trusts nobody", "verdict"],
  ["You score an answer by what checks", "audit"],
] as const;
export type Part = (typeof PARTS)[number][1];

/** A piece of evidence as a prompt numbers it. */
export type Piece = { readonly number: number; readonly path: string; readonly text: string };

export type CasePrompt = {
  readonly part: Part;
  readonly words: string;
  readonly pieces: readonly Piece[];
  /** Statements of an answer that it is about. */
  readonly statements: readonly string[];
  /** What was wrong with the reply before; empty where this is the first. */
  readonly faults: string;
};

export function readCasePrompt(messages: readonly DoubleMessage[]): CasePrompt {
  const system = messages[0]?.content ?? "";
  const part = PARTS.find(([begins]) => system.startsWith(begins))?.[1];
  if (part === undefined) throw new Error(`no part of a case begins: ${system.slice(0, 60)}`);
  const words = messages
    .slice(1)
    .map(({ content }) => content)
    .join("\n");
  const pieces = piecesOf(words);
  return { part, words, pieces, statements: statementsOf(words, pieces), faults: faultsOf(words) };
}

const PIECE =
  /<<<EVIDENCE ([0-9a-f]{32}) \[(\d+)\] path=("(?:[^"\\]|\\.)*")[^\n]*>>>\n([^]*?)\n<<<END \1>>>/g;

const piecesOf = (words: string): readonly Piece[] =>
  Array.from(words.matchAll(PIECE), ([, , number = "", path = '""', text = ""]) => ({
    number: Number(number),
    path: String(JSON.parse(path)),
    text,
  }));

/** Those of an audit are pieces of their own, that of a check stands on a line. */
const statementsOf = (words: string, pieces: readonly Piece[]): readonly string[] => [
  ...pieces.filter(({ path }) => path === "statement").map(({ text }) => text.split("\n")[0] ?? ""),
  ...Array.from(
    words.matchAll(/about this statement, which may be wrong: ("(?:[^"\\]|\\.)*")/g),
    ([, quoted = '""']) => String(JSON.parse(quoted)),
  ),
];

const faultsOf = (words: string): string =>
  words.split("Your previous reply was rejected:")[1]?.split("What was wrong with it:")[1] ?? "";
