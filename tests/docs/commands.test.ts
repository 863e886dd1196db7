import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { blocksOf, readDoc, rowsOf, sectionOf } from "./read-doc.ts";
import type { Block } from "./read-doc.ts";
import { openSession } from "./session.ts";
import type { Session } from "./session.ts";
import { patternOf, readTranscript, withoutParticulars } from "./transcript.ts";

/** A step may be several commands, and the first of them makes a database. */
const LONGEST_STEP_MS = 180_000;

const markedOf = (name: "README.md" | "OPERATOR_QUICKREF.md"): readonly Block[] =>
  blocksOf(readDoc(name)).filter(({ isRun }) => isRun);

const recipesOf = (text: string): readonly (readonly [string, string])[] =>
  blocksOf(text)
    .filter(({ language }) => language === "sql")
    .flatMap(({ body }) => [...body.matchAll(/^-- (.+)\n(.+)$/gm)])
    .map(([, title = "", statement = ""]) => [title, statement]);

/** One night in one copy of the examples: the README's evening and morning, then the operator's commands. */
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

  describe.each(["README.md", "OPERATOR_QUICKREF.md"] as const)("%s", (name) => {
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

  const recipes = (["OPERATOR_QUICKREF.md", "docs/many-machines.md"] as const).flatMap((name) =>
    recipesOf(readDoc(name)),
  );
  test.each(recipes)("recipe: %s", async (_, statement) => {
    const { exitCode, output } = await session.run(`nightdesk sql ${quoteForShell(statement)}`);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output });
  });

  const views = rowsOf(sectionOf(readDoc("README.md"), "SQL views")).map(([view = ""]) => view);
  test.each(views)("the view %s can be read", async (view) => {
    const ran = await session.run(`nightdesk sql 'select * from ${view}' --json > /dev/null`);
    expect(ran.exitCode).toBe(0);
  });

  test("the views have the columns that the README names", async () => {
    const { output } = await session.run(
      `nightdesk sql ${quoteForShell(COLUMNS)} --format json 2> /dev/null`,
    );
    const documented = rowsOf(sectionOf(readDoc("README.md"), "SQL views"));
    expect(JSON.parse(output)).toEqual(
      [...documented.map(([view, , columns]) => ({ view, columns }))].sort(byView),
    );
  });
});

const COLUMNS = `select table_name as view, string_agg(column_name, ' ' order by ordinal_position) as columns
  from information_schema.columns where table_schema = 'nightdesk' group by table_name order by table_name`;

type Named = { readonly view: string | undefined };
const byView = (a: Named, b: Named): number => ((a.view ?? "") < (b.view ?? "") ? -1 : 1);

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
