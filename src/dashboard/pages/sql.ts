import { isRecord } from "../../shared/json-value.ts";
import { selectViewNames } from "../../shared/store/reader-sql.ts";
import { scrolling } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { jsonLinesOf, wordsOf } from "../command-child.ts";
import type { CommandEnd } from "../command-child.ts";
import { page } from "../desk.ts";
import type { Answer, Desk, DeskRequest, Route } from "../desk.ts";
import { csrfField, headHtml } from "../layout.ts";
import type { Session } from "../sessions.ts";

const TIME_S = 10;
/** The command itself needs a moment beside the statement. */
const SPARE_MS = 10_000;
const SHOWN_ROWS = 200;
const MOST_CHARS = 20_000;

/** Statements by `nightdesk sql`: its role, its read-only transaction and its limits. They are sent, and change nothing. */
export const SQL: readonly Route[] = [
  {
    method: "get",
    path: "/sql",
    answer: async ({ database }: Desk, { session }: DeskRequest): Promise<Answer> =>
      page({
        title: "SQL",
        menu: "/sql",
        body: await consoleHtml(database, session, { statement: EXAMPLE, result: markup`` }),
      }),
  },
  { method: "post", path: "/sql", answer: runStatement },
];

const EXAMPLE = "select batch, state, count(*) from results group by 1, 2 order by 1, 2";

type Shown = { readonly statement: string; readonly result: Html };

async function consoleHtml(
  database: Desk["database"],
  session: Session,
  { statement, result }: Shown,
): Promise<Html> {
  const views = await selectViewNames(database);
  return markup`${headHtml("SQL", `One statement that reads the views, within ${TIME_S} s.`)}
<form class="stack" method="post" action="/sql">${csrfField(session)}
<label for="statement">Statement</label>
<textarea id="statement" name="statement" class="code" rows="6" maxlength="${MOST_CHARS}" required spellcheck="false">${statement}</textarea>
<p class="actions"><button name="form" value="table">Run</button> <button class="plain" name="form" value="csv">Save as CSV</button></p></form>
${result}
<p class="note">Views: ${views.join(", ")}.</p>`;
}

async function runStatement(desk: Desk, { form, session }: DeskRequest): Promise<Answer> {
  const statement = (form.get("statement") ?? "").slice(0, MOST_CHARS);
  const format = form.get("form") === "csv" ? "csv" : "json";
  // Behind the two dashes nothing is taken for an option.
  const words = ["sql", "--format", format, "--timeout", String(TIME_S), "--", statement];
  const end = await desk.runCommand(words, { timeMs: TIME_S * 1_000 + SPARE_MS });
  if (end.code === 0 && format === "csv") {
    return { kind: "csv", name: "nightdesk.csv", chunks: oneChunk(end.stdout) };
  }
  const result =
    end.code === 0
      ? rowsHtml(end)
      : markup`<pre class="failure" role="alert">${wordsOf(end)}</pre>`;
  return page({
    title: "SQL",
    menu: "/sql",
    body: await consoleHtml(desk.database, session, { statement, result }),
  });
}

async function* oneChunk(text: string): AsyncGenerator<string> {
  yield text;
}

function rowsHtml(end: CommandEnd): Html {
  const rows = jsonLinesOf(end).flat().filter(isRecord);
  const [first] = rows;
  if (first === undefined) return markup`<p class="note" role="status">No rows.</p>`;
  const names = Object.keys(first);
  const more =
    rows.length > SHOWN_ROWS ? `, the first ${SHOWN_ROWS} of them here; CSV has all` : "";
  const cell = (value: unknown): Html => {
    const text = typeof value === "string" ? value : value == null ? "" : JSON.stringify(value);
    return typeof value === "number"
      ? markup`<td class="n">${text}</td>`
      : markup`<td>${text.slice(0, MOST_CELL).toWellFormed()}</td>`;
  };
  const body = rows
    .slice(0, SHOWN_ROWS)
    .map((row) => markup`<tr>${names.map((name) => cell(row[name]))}</tr>\n`);
  return markup`<p class="note" role="status">${countOf(rows.length, "row")}${more}.</p>
${scrolling(markup`<table><thead><tr>${names.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>${body}</tbody></table>`)}`;
}

const MOST_CELL = 500;
