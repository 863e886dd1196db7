import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { blocksOf, DOCS, readDoc, SESSION_DOCS } from "./read-doc.ts";
import type { Block } from "./read-doc.ts";
import { openSession } from "./session.ts";
import type { Session } from "./session.ts";
import { patternOf, readTranscript, withoutParticulars } from "./transcript.ts";

/** A step may be several commands, and the first of them makes a database. */
const LONGEST_STEP_MS = 180_000;

const markedOf = (name: string): readonly Block[] =>
  blocksOf(readDoc(name)).filter(({ isRun }) => isRun);

const recipesOf = (text: string): readonly (readonly [string, string])[] =>
  blocksOf(text)
    .filter(({ language }) => language === "sql")
    .flatMap(({ body }) => [...body.matchAll(/^-- (.+)\n(.+)$/gm)])
    .map(([, title = "", statement = ""]) => [title, statement]);

/** The views of a reference page, each with its columns in their order. */
const viewsOf = (text: string) =>
  text
    .split("\n### `")
    .slice(1)
    .map((part) => ({
      view: part.slice(0, part.indexOf("`")),
      columns: [...part.matchAll(/^- `(\w+)`: ./gm)].map(([, column]) => column).join(" "),
    }));

test("every document with a marked block is in the session", () => {
  const marked = DOCS.filter((name) => markedOf(name).length > 0);
  expect(marked.sort()).toEqual([...SESSION_DOCS].sort());
});

/** One night in one copy of the examples: the README's evening, the guide's morning, then the operator's commands. */
describe("on embedded", () => {
  let session: Session;

  beforeAll(() => {
    session = openSession();
  });
  afterAll(() => session.close());

  const steps = (block: Block) =>
    block.language === "console"
      ? readTranscript(block.body)
      : [{ command: block.body.trimEnd(), exitCode: 0, output: ["…"] }];

  describe.each(SESSION_DOCS)("%s", (name) => {
    test.each(
      markedOf(name)
        .flatMap(steps)
        .map((step) => [step.command, step] as const),
    )(
      "%s",
      async (_, { command, exitCode, output }) => {
        const ran = await session.run(command);
        expect(withoutParticulars(ran.output).trimEnd()).toMatch(patternOf(output));
        expect(ran.exitCode).toBe(exitCode);
      },
      LONGEST_STEP_MS,
    );
  });

  const recipes = DOCS.flatMap((name) => recipesOf(readDoc(name)));
  test.each(recipes)("recipe: %s", async (_, statement) => {
    const { exitCode, output } = await session.run(`nightdesk sql ${quoteForShell(statement)}`);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output });
  });

  const documented = viewsOf(readDoc("docs/reference/views.md"));
  test("the views can be read, each in all its columns", async () => {
    const statement = documented.map(({ view }) => readWhole(view)).join(" union all ");
    const ran = await session.run(`nightdesk sql ${quoteForShell(statement)} --json 2> /dev/null`);
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.output)).toEqual(
      documented.map(({ view }) => ({ view, lines: expect.any(Number) })),
    );
  });

  test("the views have the columns that the reference names", async () => {
    const { output } = await session.run(
      `nightdesk sql ${quoteForShell(COLUMNS)} --format json 2> /dev/null`,
    );
    expect(JSON.parse(output)).toEqual([...documented].sort(byView));
  });
});

/** Counts rows as texts, because columns that nobody asks for are not computed. */
const readWhole = (view: string): string =>
  `select '${view}' as view, (select count(whole::text) from ${view} whole)::int as lines`;

const COLUMNS = `select table_name as view, string_agg(column_name, ' ' order by ordinal_position) as columns
  from information_schema.columns where table_schema = 'nightdesk' group by table_name order by table_name`;

type Named = { readonly view: string };
const byView = (a: Named, b: Named): number => (a.view < b.view ? -1 : 1);

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
