import { cleanForTerminal, cleanLine, renderLine } from "./styled-text.ts";
import type { Style } from "./styled-text.ts";

const LEVELS: Readonly<Record<string, readonly [name: string, style: Style]>> = {
  10: ["TRACE", "past"],
  20: ["DEBUG", "past"],
  30: ["INFO", "good"],
  40: ["WARN", "caution"],
  50: ["ERROR", "bad"],
  60: ["FATAL", "bad"],
};

/**
 * Formats a log line for a terminal: local time, level, message, and each field on its own lines. No value can drive the
 * terminal or look like another line; only a stack has several lines.
 * @param json as pino writes it
 */
export function prettyLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json, cleanValue) as Fields;
  const [name, style] = LEVELS[String(level)] ?? [String(level), "past"];
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const message = typeof msg === "string" ? ` ${msg}` : "";
  const head = [{ text: `[${clock}] ` }, { text: name, style }, { text: ":" }];
  const lines = [
    [...head, { text: message, style: "active" as const }],
    ...Object.entries(fields).map(([key, value]) => [
      { text: `    ${cleanLine(key)}`, style: "past" as const },
      { text: `: ${indentLines(splitStacks(JSON.stringify(value, null, 2)), 4)}` },
    ]),
  ];
  return `${lines.map((line) => renderLine(line, "color", cleanForTerminal)).join("\n")}\n`;
}

type Fields = Readonly<Record<string, unknown>>;

const cleanValue = (key: string, value: unknown): unknown =>
  typeof value !== "string" ? value : key === "stack" ? cleanForTerminal(value) : cleanLine(value);

/** Splits a stack, which is one line in JSON, into lines deeper than its key. */
const splitStacks = (json: string): string =>
  json.replace(
    /^( *)"stack": (".*"),?$/gm,
    (_, indent: string, stack: string) =>
      `${indent}"stack":\n${indent}    ${indentLines(String(JSON.parse(stack)), indent.length + 4)}`,
  );

/** Indents all lines after the first. */
const indentLines = (text: string, columns: number): string =>
  text.replaceAll("\n", `\n${" ".repeat(columns)}`);
