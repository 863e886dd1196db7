import { databaseCommand, userName } from "../../shared/commands/command-context.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { chooseReading } from "../../shared/store/index/ocr-choices.ts";
import type { Reading } from "../../shared/store/index/ocr-choices.ts";
import { doubtfulFigureTable, selectDoubtfulFigures } from "../../shared/views/doubtful-figures.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { printList } from "../print/sections.ts";
import { hintWorker } from "../watch/obstacles.ts";
import { argumentOf, countOfOption, moreText, selectUpTo, textOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

const DEFAULT_LIMIT = 50;

/** Lists the doubtful figures in pictures of pages. */
export const evidenceDoubts = databaseCommand(
  async ({ terminal, invocation: { options, args } }, database) => {
    const limit = countOfOption(options, "limit") ?? DEFAULT_LIMIT;
    const which = options["all"] === true ? "all" : "open";
    const path = args[0] ?? null;
    const { rows, hasMore } = await selectUpTo(limit, (most) =>
      selectDoubtfulFigures(database, { path, which, limit: most }),
    );
    if (terminal.isJson) return terminal.printJson(rows);
    if (rows.length > 0) await printList(terminal, doubtfulFigureTable(rows));
    if (hasMore) terminal.say(moreText("first", limit));
    const none =
      path === null
        ? "No figure of a picture is in doubt."
        : `No figure in doubt is known of ${JSON.stringify(path)}. Whether its pictures were read: nightdesk index show ${quoteForShell(path)}`;
    terminal.say(
      rows.length === 0
        ? none
        : "To say what stands there: nightdesk evidence choose FIGURE --first, --second or --as TEXT.",
    );
  },
);

/** Records a person's reading of a doubtful figure in a picture. Exit 4: there is no such figure. */
export const evidenceChoose = databaseCommand(async (context, database) => {
  const { terminal, invocation } = context;
  const reading = readingOf(invocation);
  const figure = argumentOf(invocation);
  const chosen = await chooseReading(database, { figure, reading, by: userName() });
  if (chosen.kind === "refused") return printRefusal(chosen, invocation);
  const { paths, sha256, page, chosen: words } = chosen;
  if (terminal.isJson) await terminal.printJson({ figure, sha256, page, chosen: words, paths });
  else
    terminal.say(
      `${words} stands there. ${countOf(paths.length, "file")} ${paths.length === 1 ? "is" : "are"} indexed with it; answers that were given before stay as they are.`,
    );
  await hintWorker(context, database);
  return EXIT.ok;
});

function readingOf({ options }: Invocation): Reading {
  const words = textOf(options, "as");
  const said = [
    ...(options["first"] === true ? ["first" as const] : []),
    ...(options["second"] === true ? ["second" as const] : []),
    ...(words === undefined ? [] : [{ words }]),
  ];
  const [reading] = said;
  if (reading !== undefined && said.length === 1) return reading;
  throw new Failure(
    "USAGE_ERROR",
    "Say what stands there by one of --first, --second and --as TEXT.",
  );
}
