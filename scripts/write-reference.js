import { register } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diffLines } from "./line-diff.js";
import { runScript } from "./phase.js";
import { root } from "./root.js";

// Writes the tables of docs/reference/ from those of the code, between marks that name them; what stands outside of the
// marks is written by hand. `--check` writes nothing and exits 1 with the lines that differ.
register("../tests/typescript-hooks.js", import.meta.url);

/** Each page with its tables: a function gives the Markdown of one. */
const PAGES = {
  "docs/reference/commands.md": {
    commands,
    "global options": globalOptions,
    "each command": eachCommand,
  },
  "docs/reference/errors.md": { outcomes, "error codes": errorCodes },
  "docs/reference/settings.md": { settings },
  "docs/reference/views.md": { views },
};

function reportDifference(name, before, after) {
  process.stdout.write(`${name}\n${diffLines(before, after).join("\n")}\n`);
  process.stderr.write(
    `${name} is not what the code says. Run \`node scripts/write-reference.js\`, look at the lines above, and commit it.\n`,
  );
  return 1;
}

/** The page with each of its tables made anew. */
async function written(name, page, tables) {
  let text = page;
  for (const [title, make] of Object.entries(tables)) {
    const [begin, end] = [`<!-- begin: ${title} -->`, `<!-- end: ${title} -->`];
    const [before, rest] = text.split(begin);
    const after = rest?.split(end)[1];
    if (after === undefined)
      throw new Error(`${name} has no ${begin} and ${end}: put them where the table goes.`);
    text = `${before}${begin}\n\n${await make()}\n\n${end}${after}`;
  }
  const { default: prettier } = await import("prettier");
  const settings = await prettier.resolveConfig(join(root, "README.md"));
  return prettier.format(text, { ...settings, parser: "markdown" });
}

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Escapes what Markdown would take for its own. */
const plain = (text) => text.replaceAll(/[<*\\]/g, String.raw`\$&`);

async function outcomes() {
  const { OUTCOMES } = await import("../src/shared/failure.ts");
  return Object.entries(OUTCOMES)
    .map(([outcome, words]) => `- **${outcome}**: ${words}.`)
    .join("\n");
}

async function errorCodes() {
  const { CODES } = await import("../src/shared/failure.ts");
  const rows = Object.entries(CODES).map(([code, { outcome, meaning }]) => [
    code,
    outcome,
    meaning,
  ]);
  return table(["code", "outcome", "meaning"], rows);
}

async function shownCommands() {
  const { COMMANDS } = await import("../src/shared/commands/table.ts");
  return COMMANDS.filter(({ hidden }) => hidden !== true).map((command) => ({
    ...command,
    usage: [command.name, ...(command.arguments ?? []).map(({ usage }) => usage)].join(" "),
  }));
}

async function commands() {
  const rows = (await shownCommands()).map(({ usage, summary }) => [`\`${usage}\``, summary]);
  return table(["command", "what it does"], rows);
}

async function globalOptions() {
  const { GLOBAL_OPTIONS } = await import("../src/shared/commands/table.ts");
  return GLOBAL_OPTIONS.map(describeOption).join("\n");
}

async function eachCommand() {
  return (await shownCommands()).map(describeCommand).join("\n\n");
}

function describeCommand({ usage, summary, examples, arguments: operands = [], options = [] }) {
  const words = [
    ...operands.map((operand) => `- \`${operand.usage}\`: ${plain(operand.description)}`),
    ...options.filter(({ hidden }) => hidden !== true).map(describeOption),
  ];
  const shown = [`\`\`\`sh`, ...examples, `\`\`\``].join("\n");
  const parts = [`### \`${usage}\``, `${summary}.`, words.join("\n"), shown];
  return parts.filter((part) => part !== "").join("\n\n");
}

function describeOption({ flags, description, kind, choices = [] }) {
  const one =
    choices.length === 0 ? "" : ` (${choices.map((choice) => `\`${choice}\``).join(", ")})`;
  const again = kind === "list" ? "; may be given again" : "";
  return `- \`${flags}\`: ${plain(description)}${one}${again}`;
}

/** Longer values are looked up in the file. */
const LONGEST_VALUE_CHARS = 160;

async function settings() {
  const { parse } = await import("yaml");
  const { schemaKeys } = await import("../src/shared/config/validate-values.ts");
  const text = readFileSync(join(root, "configs/default.yaml"), "utf8");
  const [values, embedded] = ["default", "embedded"].map((name) =>
    parse(readFileSync(join(root, `configs/${name}.yaml`), "utf8")),
  );
  const comments = commentsOf(text);
  const commentOf = (key) => {
    const comment = comments.get(key);
    if (comment === undefined) throw new Error(`configs/default.yaml has no comment above ${key}.`);
    return comment;
  };
  const seen = new Set();
  return schemaKeys()
    .flatMap((key) => {
      const groups = groupsOf(key).filter((group) => !seen.has(group));
      for (const group of groups) seen.add(group);
      const value = describeValues(valueAt(values, key), valueAt(embedded, key));
      return [
        ...groups.map((group) => {
          if (group.includes(".")) return `- \`${group}\`: ${commentOf(group)}`;
          const comment = group === key ? undefined : comments.get(group);
          return `\n### \`${group}\`\n${comment === undefined ? "" : `\n${comment}\n`}`;
        }),
        `- \`${key}\`, ${value}: ${commentOf(key)}`,
      ];
    })
    .join("\n");
}

/** Of `ask.citations.strict`: `ask` and `ask.citations`; of a key without a group: itself, which is a heading, too. */
function groupsOf(key) {
  const steps = key.split(".");
  return steps
    .slice(0, Math.max(1, steps.length - 1))
    .map((_, n) => steps.slice(0, n + 1).join("."));
}

function describeValues(value, embedded) {
  const shown = (one) => {
    const json = JSON.stringify(one);
    return json.length > LONGEST_VALUE_CHARS ? "as in the file" : `\`${json}\``;
  };
  return embedded === undefined ? shown(value) : `${shown(value)} (embedded: ${shown(embedded)})`;
}

const valueAt = (values, key) => key.split(".").reduce((value, step) => value?.[step], values);

/** What a file of the configuration says above each key, by dotted key, as Markdown. */
function commentsOf(yaml) {
  const comments = new Map();
  const path = [];
  let above = [];
  for (const line of yaml.split("\n")) {
    const [, indent = "", key] = /^( *)([a-z_]+):/.exec(line) ?? [];
    const comment = /^ *#( ?.*)$/.exec(line)?.[1];
    if (comment !== undefined) above.push(comment.slice(1));
    else if (key !== undefined && above.length > 0) {
      path.splice(indent.length / 2, path.length, key);
      comments.set(path.join("."), flow(above));
    }
    if (comment === undefined) above = [];
  }
  return comments;
}

/** Lines of a comment as one; those that begin further in, with a word and a colon, are a list below it. */
function flow(lines) {
  const items = [];
  for (const line of lines) {
    const entry = /^ {2}([a-z_]+): +(.*)$/.exec(line);
    if (entry !== null) items.push(`  - \`${entry[1]}\`: ${plain(entry[2])}`);
    else if (items.length === 0) items.push(plain(line.trim()));
    else items.push(`${items.pop()} ${plain(line.trim())}`);
  }
  return items.join("\n");
}

function views() {
  const dump = readFileSync(join(root, "tests/schema.sql"), "utf8");
  const textOf = (object) => {
    const [, text] = dump.split(`\ncomment on ${object} is '`);
    if (text === undefined) throw new Error(`tests/schema.sql has no comment on ${object}.`);
    return plain(/^(?:[^']|'')*/.exec(text)[0].replaceAll("''", "'"));
  };
  return [...dump.matchAll(/^view nightdesk\.(\w+) \((.+)\) as$/gm)]
    .map(([, view, columns]) => {
      const lines = columns
        .split(", ")
        .map((column) => `- \`${column}\`: ${textOf(`view column nightdesk.${view}.${column}`)}`);
      return [`### \`${view}\``, textOf(`view nightdesk.${view}`), lines.join("\n")].join("\n\n");
    })
    .join("\n\n");
}

await runScript(async () => {
  let exitCode = 0;
  for (const [name, tables] of Object.entries(PAGES)) {
    const before = readFileSync(join(root, name), "utf8");
    const after = await written(name, before, tables);
    if (!process.argv.includes("--check")) writeFileSync(join(root, name), after);
    else if (after !== before) exitCode = reportDifference(name, before, after);
  }
  return exitCode;
});
