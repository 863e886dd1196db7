import { posix } from "node:path";
import type { Config } from "../shared/config/schema.ts";
import { Failure } from "../shared/failure.ts";
import { investigationProblem, SHIPPED_PRESETS } from "../shared/config/tool-presets.ts";
import { VERIFY_MODES } from "../shared/job/verify-modes.ts";

/** Kinds of jobs that a page can start. */
export const STARTED_KINDS = ["summarize", "extract", "ask", "investigate"] as const;
export type StartedKind = (typeof STARTED_KINDS)[number];
export const PRESETS = ["actions", "people", "classify"] as const;
export const LENGTHS = ["sentence", "short", "medium", "long"] as const;
export const WHEN = ["desk", "now", "windows"] as const;

/** The form as it was sent, except what exceeds a field's limit: invalid values are shown again too. */
export type Order = Readonly<Record<OrderField, string>>;
export const ORDER_FIELDS = [
  ...(["kind", "name", "files", "changed", "preset", "labels", "examples"] as const),
  ...(["length", "bullets", "question", "tools", "model", "verify", "when", "windows"] as const),
] as const;
export type OrderField = (typeof ORDER_FIELDS)[number];

const MOST_CHARS = 20_000;
/** Characters of the examples. As UTF-8 and form data they take less than the limit of a form. */
const MOST_EXAMPLE_CHARS = 60_000;
const MOST_FILES = 200;
const MOST_PATH_CHARS = 4_096;

const mostCharsOf = (name: OrderField): number =>
  name === "examples" ? MOST_EXAMPLE_CHARS : MOST_CHARS;

/** A value that is too long keeps one character more than its limit, so that `assertWhole` refuses it. */
export function orderOf(form: URLSearchParams): Order {
  const of = (name: OrderField): string =>
    (form.get(name) ?? "").replaceAll("\r\n", "\n").slice(0, mostCharsOf(name) + 1);
  return Object.fromEntries(ORDER_FIELDS.map((name) => [name, of(name)])) as Order;
}

/** @throws Failure INPUT_INVALID for a value that was cut */
export function assertWhole(order: Order): void {
  const name = ORDER_FIELDS.find((each) => order[each].length > mostCharsOf(each));
  if (name === undefined) return;
  const file = name === "examples" ? ", or queue them by nightdesk extract --examples FILE" : "";
  throw invalid(`The field ${name} is over ${mostCharsOf(name)} characters. Give fewer${file}.`);
}

/** Models of the configuration, the default first. A page accepts no others. */
export const modelsOf = ({ model }: Config): readonly string[] => [
  ...new Set(
    [model.name, model.fast, model.big, ...Object.keys(model.aliases)].filter(
      (name) => name !== null,
    ),
  ),
];

export const toolPresetsOf = ({ tools }: Config): readonly string[] => [
  ...Object.keys(SHIPPED_PRESETS),
  ...Object.keys(tools.presets),
];

/** The input of a command: its words, the arguments after two dashes, and its stdin. */
export type OrderCommand = {
  readonly kind: StartedKind;
  readonly words: readonly string[];
  readonly files: readonly string[];
  /** Its stdin: for jobs without files the line of a batch. */
  readonly input: string | null;
};

export const isOfFiles = ({ kind }: OrderCommand): boolean =>
  kind === "summarize" || kind === "extract";

/**
 * The command for a filled form. It accepts only choices of the configuration, and no address.
 * @throws Failure INPUT_INVALID with the problem and what is expected
 */
export function commandOf(order: Order, config: Config): OrderCommand {
  assertWhole(order);
  const kind = choiceOf(order.kind, STARTED_KINDS, "kind");
  const batch = [...batchWords(order)];
  if (kind === "ask" || kind === "investigate") {
    const line = JSON.stringify(batchLineOf(kind, order, config));
    return { kind, words: ["enqueue", "--json", ...batch], files: ["-"], input: `${line}\n` };
  }
  const settings = [...modelWords(order, config), ...verifyWords(order), ...batch];
  const changed = order.changed === "" ? [] : ["--changed"];
  const own = kind === "summarize" ? summaryWords(order) : extractWords(order);
  return {
    kind,
    words: [kind, "--json", ...own, ...settings, ...changed],
    files: filesOf(order.files),
    input: hasExamples(order) ? order.examples : null,
  };
}

function choiceOf<T extends string>(value: string, of: readonly T[], what: string): T {
  const found = of.find((each) => each === value);
  if (found !== undefined) return found;
  throw invalid(`${what} is ${JSON.stringify(value.slice(0, 100))}; expected ${of.join(", ")}.`);
}

const invalid = (message: string): Failure => new Failure("INPUT_INVALID", message);

/** Options with `=VALUE`, so that no value is taken for an option. */
function batchWords({ name, when, windows }: Order): readonly string[] {
  const named = name.trim() === "" ? [] : [`--batch-name=${name.trim()}`];
  switch (choiceOf(when, WHEN, "when")) {
    case "desk":
      return named;
    case "now":
      return [...named, "--now"];
    case "windows": {
      const lines = linesOf(windows);
      if (lines.length === 0) throw invalid("Windows are asked for, and none is given.");
      return [...named, ...lines.map((line) => `--windows=${line}`)];
    }
  }
}

/** The lines that are not blank. */
export const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

function modelWords({ model }: Order, config: Config): readonly string[] {
  return model === "" ? [] : [`--model=${choiceOf(model, modelsOf(config), "model")}`];
}

const verifyWords = ({ verify }: Order): readonly string[] =>
  verify === "" ? [] : [`--verify=${choiceOf(verify, VERIFY_MODES, "verify")}`];

const summaryWords = ({ length, bullets }: Order): readonly string[] => [
  ...(length === "" ? [] : [`--length=${choiceOf(length, LENGTHS, "length")}`]),
  ...(bullets === "" ? [] : ["--bullets"]),
];

const hasExamples = ({ kind, preset, examples }: Order): boolean =>
  kind === "extract" && preset === "classify" && examples.trim() !== "";

function extractWords(order: Order): readonly string[] {
  const { preset, labels } = order;
  const chosen = choiceOf(preset, PRESETS, "preset");
  if (chosen !== "classify") return [`--preset=${chosen}`];
  const named = labels.replaceAll("\n", " ").trim();
  const labelled = named === "" ? [] : [`--labels=${named}`];
  if (!hasExamples(order)) {
    if (named !== "") return [`--preset=${chosen}`, ...labelled];
    throw invalid("To classify, give two labels or more, parted by commas, or examples.");
  }
  return [`--preset=${chosen}`, ...labelled, "--examples=-"];
}

function batchLineOf(
  kind: "ask" | "investigate",
  order: Order,
  config: Config,
): Readonly<Record<string, unknown>> {
  const question = order.question.trim();
  if (question === "") throw invalid("A question is asked for, and none is given.");
  const options = {
    ...(order.model === "" ? {} : { model: choiceOf(order.model, modelsOf(config), "model") }),
    ...(order.verify === "" ? {} : { verify: choiceOf(order.verify, VERIFY_MODES, "verify") }),
  };
  const withOptions = Object.keys(options).length === 0 ? {} : { options };
  if (kind === "ask") return { kind, question, ...withOptions };
  const preset = choiceOf(order.tools, toolPresetsOf(config), "tools");
  const problem = investigationProblem({ preset }, config);
  if (problem !== undefined) throw invalid(problem.message);
  return { kind, task: question, preset, ...withOptions };
}

function filesOf(text: string): readonly string[] {
  const files = linesOf(text);
  if (files.length === 0) {
    throw invalid(
      "No file is named. Name files, folders or globs such as corpus/**/*.md, one a line.",
    );
  }
  if (files.length > MOST_FILES) {
    throw invalid(`${files.length} lines name files; expected ${MOST_FILES} at most. Use a glob.`);
  }
  const wrong = files.find((file) => isOutside(file) || file.length > MOST_PATH_CHARS);
  if (wrong === undefined) return files;
  throw invalid(
    `${JSON.stringify(wrong.slice(0, 200))} is absolute or climbs; expected a path below an allowed root.`,
  );
}

const isOutside = (file: string): boolean =>
  file.startsWith("/") || file.startsWith("\\") || file.split(/[/\\]/).includes("..");

/** The paths outside of all allowed roots: a worker would refuse each. */
export function outsideOf(paths: readonly string[], { security }: Config): readonly string[] {
  if (security.allow_any_path) return [];
  const roots = security.allowed_roots.map((root) => posix.normalize(root).replace(/\/$/, ""));
  return paths.filter(
    (path) => !roots.some((root) => root === "." || path === root || path.startsWith(`${root}/`)),
  );
}
