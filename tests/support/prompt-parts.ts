import type { DoubleMessage } from "../doubles/ollama/double-model.ts";

/** What a job that is verified asks a model for. */
export type Part = "first" | "answer" | "decompose" | "loop" | "verdict" | "audit";

const PARTS: readonly (readonly [string, Part])[] = [
  ["You prepare the audit of an answer", "decompose"],
  ["You score an answer by what checks", "audit"],
  ["You are an auditor who trusts nobody", "verdict"],
  ["You look into a question with tools", "loop"],
  ["You answer a question from numbered pieces", "answer"],
  ["You summarise", "answer"],
  ["You take fields", "answer"],
];

/** Which part a prompt asks for, by how its system message begins. */
export function partOf(messages: readonly DoubleMessage[]): Part {
  const system = messages[0]?.content ?? "";
  return PARTS.find(([words]) => system.startsWith(words))?.[1] ?? "first";
}
