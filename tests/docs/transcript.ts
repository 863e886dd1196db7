export type Step = {
  readonly command: string;
  readonly exitCode: number;
  /** What the document shows; a line `…` stands for any lines. */
  readonly output: readonly string[];
};

/** The commands of a `console` block. `$ echo $?` and the number after it say how the command before ends. */
export function readTranscript(body: string): readonly Step[] {
  const steps: Step[] = [];
  for (const part of body.split(/^\$ /m).slice(1)) {
    const [command = "", ...output] = part.trimEnd().split("\n");
    const before = steps.at(-1);
    if (command !== "echo $?") steps.push({ command, exitCode: 0, output });
    else if (before === undefined) throw new Error("echo $? stands before any command");
    else steps[steps.length - 1] = { ...before, exitCode: Number(output[0]) };
  }
  return steps;
}

/** A pattern that fits the output as the document shows it, once both went through `withoutParticulars`. */
export const patternOf = (output: readonly string[]): RegExp =>
  new RegExp(
    `^${output
      .map((line) => (line === "…" ? "[^]*" : escape(withoutParticulars(line))))
      .join("\n")
      .replaceAll("\n[^]*", "[^]*")}$`,
  );

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const PARTICULARS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "ID"],
  [/\b[0-9a-f]{64}\b/g, "HASH"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?( [0-9a-f]{6})?/g, "TIME"],
  [/\d+ min \d+ s\b|\d+([.,]\d+)*( (ms|s|min)\b)?/g, "N"],
  [/ {2,}/g, " "],
  [/-{2,}/g, "--"],
  // Whether the worker of the command before is still there is a matter of milliseconds.
  [/^No worker is alive.*\n?/gm, ""],
  // Whether it has written its dump is one of seconds.
  [/, N MB the last dumps \(backups\)/g, ""],
  // How far a batch is, every five seconds, which a slow machine takes and a fast one does not.
  [/^\[[#-]*\] .*\n?/gm, ""],
];

/** A text without ids, times, numbers and the width of columns: what may differ from run to run. */
export const withoutParticulars = (text: string): string =>
  PARTICULARS.reduce((rest, [pattern, name]) => rest.replace(pattern, name), text);
