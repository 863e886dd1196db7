import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { readSmallFile } from "../../shared/config/read-small-file.ts";
import { Failure } from "../../shared/failure.ts";
import { isRecord, parseJson } from "../../shared/json-value.ts";
import { MOST_SCHEMA_CHARS } from "../../shared/schema/check-schema.ts";
import { checkName } from "../enqueue/choose-batch.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import { selectPaths } from "./select-paths.ts";
import { onlyChanged, printUnchanged } from "./only-changed.ts";
import { routeOf, said, textOf } from "./read-options.ts";
import { runFileJobs } from "./run-file-jobs.ts";
import { checkInput, runSingleJob } from "./run-single-job.ts";

/** One file is a job of its own; several, a glob or a name for it make a batch. */
export const extract: CommandHandler = async (invocation) => {
  const wanted = await fieldsOf(invocation);
  const context = await openContext(invocation);
  const selected = await selectPaths(context);
  if (selected.kind === "refused") return printRefusal(selected, invocation);
  const { paths, isSelection, skipped } = selected;
  const name = textOf(invocation.options, "batchName");
  const all = paths.map((path) => ({ kind: "extract", path, ...wanted }));
  // What is wrong with the schema or the labels is told once, and not of each line of a batch.
  if (all[0] !== undefined) checkInput(all[0]);
  const inputs = await onlyChanged(context, all);
  if (inputs.length === 0) return printUnchanged(context);
  const [first] = inputs;
  if (first !== undefined && inputs.length === 1 && !isSelection && name === undefined) {
    return runSingleJob(context, first);
  }
  if (name !== undefined) checkName(name);
  return withDatabase(context, "create", (database) =>
    runFileJobs(context, database, { command: "extract", name, inputs, skipped, digest: null }),
  );
};

/** What is asked for, as a line of a batch says it. */
async function fieldsOf({ options, cwd }: Invocation): Promise<Readonly<Record<string, unknown>>> {
  const [preset, file, labels] = ["preset", "schema", "labels"].map((name) =>
    textOf(options, name),
  );
  if ((preset === undefined) === (file === undefined)) {
    throw new Failure(
      "USAGE_ERROR",
      "Say what to extract: either --preset classify|actions|people or --schema <file>, and not both.",
    );
  }
  const settings = said({ route: routeOf(options), model: textOf(options, "model") });
  return {
    ...said({
      preset,
      schema: file === undefined ? undefined : await readSchema(file, cwd),
      labels: labels
        ?.split(",")
        .map((label) => label.trim())
        .filter((label) => label !== ""),
    }),
    ...(Object.keys(settings).length === 0 ? {} : { options: settings }),
  };
}

const MOST_SCHEMA_BYTES = 4 * MOST_SCHEMA_CHARS;

/** The operator's own file: it may lie anywhere. @throws Failure INPUT_INVALID */
async function readSchema(file: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  const read = await readSmallFile(resolve(cwd, file), MOST_SCHEMA_BYTES);
  const schema = read.kind === "text" ? parseJson(read.text) : undefined;
  if (isRecord(schema)) return schema;
  const why =
    read.kind === "missing"
      ? "is not there"
      : read.kind === "unreadable"
        ? read.reason
        : "holds no JSON object";
  throw new Failure(
    "INPUT_INVALID",
    `The schema ${JSON.stringify(file)} ${why}. Name a file with a JSON schema, such as examples/schemas/incident.json.`,
  );
}
