import { isRecord } from "../../shared/schema/json-value.ts";
import {
  MOST_QUERY_NAME,
  removeQuery,
  saveQuery,
  selectSavedQueries,
} from "../../shared/store/operator/saved-queries.ts";
import type { SavedQuery } from "../../shared/store/operator/saved-queries.ts";
import { selectViewNames } from "../../shared/store/reader-sql.ts";
import { htmlTable } from "../../shared/views/draw-sections.ts";
import type { HtmlColumn } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { NAME, RIGHT, WORDS } from "../../shared/views/section.ts";
import { runAction } from "../run-action.ts";
import { jsonLinesOf, failureTextOf } from "../command-child.ts";
import type { CommandEnd } from "../command-child.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { csrfField, headHtml } from "../layout.ts";
import { link, withQuery } from "../links.ts";
import { outcomePath, outcomeHtml } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";

const TIME_S = 10;
/** The time of the command beside its statement. */
const SPARE_MS = 10_000;
const SHOWN_ROWS = 200;
const MOST_CHARS = 20_000;

/** Runs statements with `nightdesk sql`: in its role and limits, in a read-only transaction. A POST that changes nothing. */
export const SQL: readonly Route[] = [
  {
    path: "/sql",
    answer: async ({ database }: Site, { session, query }: SiteRequest): Promise<Answer> => {
      const saved = await selectSavedQueries(database);
      const chosen = saved.find(({ name }) => name === query.get("query"));
      const statement = chosen?.statement ?? EXAMPLE;
      const name = chosen?.name ?? "";
      const result = await outcomeHtml(database, query);
      const views = await selectViewNames(database);
      const body = consoleHtml(session, { views, saved, statement, name, result });
      return page({ title: "SQL", menu: "/sql", body });
    },
  },
  { method: "post", path: "/sql", answer: runStatement },
  { method: "post", path: "/sql/remove", answer: removeSaved },
];

const EXAMPLE = "select batch, state, count(*) from results group by 1, 2 order by 1, 2";

type Shown = {
  readonly views: readonly string[];
  readonly saved: readonly SavedQuery[];
  readonly statement: string;
  readonly name: string;
  readonly result: Html;
};

function consoleHtml(session: Session, { views, saved, statement, name, result }: Shown): Html {
  return markup`${headHtml("SQL", `One statement that reads the views, within ${TIME_S} s.`)}
<form class="stack" method="post" action="/sql">${csrfField(session)}
<label for="statement">Statement</label>
<textarea id="statement" name="statement" class="code" rows="6" maxlength="${MOST_CHARS}" required spellcheck="false">${statement}</textarea>
<p class="actions"><button name="form" value="table">Run</button> <button class="plain" name="form" value="csv">Save as CSV</button></p>
<p class="actions"><label for="name">Name</label><input id="name" name="name" value="${name}" maxlength="${MOST_QUERY_NAME}" size="24"><button class="plain" name="form" value="keep">Keep the statement under this name</button></p></form>
${result}
${savedHtml(saved, session)}
<p class="note">Views: ${views.join(", ")}.</p>`;
}

function savedHtml(saved: readonly SavedQuery[], session: Session): Html {
  if (saved.length === 0) return markup``;
  const table = htmlTable(saved, [
    ["name", ({ name }) => link(withQuery("/sql", { query: name }), name), NAME],
    [
      "statement",
      ({ statement }) => markup`<code>${statement.slice(0, MOST_SHOWN).toWellFormed()}</code>`,
      WORDS,
    ],
    ["kept by", ({ saved_by: by }) => by],
    [
      "",
      ({ name }) =>
        markup`<form method="post" action="/sql/remove">${csrfField(session)}<input type="hidden" name="name" value="${name}"><button class="quiet" aria-label="Remove ${name}">Remove</button></form>`,
      { heading: markup`<span class="unseen">remove</span>` },
    ],
  ]);
  return markup`<section aria-labelledby="saved"><h2 id="saved">Kept statements</h2>
${table}</section>`;
}

const MOST_SHOWN = 200;

async function keepStatement(
  { database }: Site,
  { form, session }: SiteRequest,
  statement: string,
): Promise<Answer> {
  const name = (form.get("name") ?? "").trim();
  const detail = { name: name.slice(0, MOST_QUERY_NAME), statement };
  const did = await runAction(
    database,
    { actor: session.user, action: "save-query", detail },
    async () => {
      await saveQuery(database, { name, statement, savedBy: session.user });
      return `The statement is kept as ${name}.`;
    },
  );
  return { kind: "redirect", to: outcomePath(withQuery("/sql", { query: name }), did) };
}

async function removeSaved({ database }: Site, { form, session }: SiteRequest): Promise<Answer> {
  const name = (form.get("name") ?? "").slice(0, MOST_QUERY_NAME);
  const action = { actor: session.user, action: "remove-query", detail: { name } } as const;
  const did = await runAction(database, action, async () =>
    (await removeQuery(database, name))
      ? `The statement ${name} is removed.`
      : `There was no statement ${name}.`,
  );
  return { kind: "redirect", to: outcomePath("/sql", did) };
}

async function runStatement(site: Site, request: SiteRequest): Promise<Answer> {
  const { form, session } = request;
  // A browser sends line ends as CRLF, and counts them as one character.
  const statement = (form.get("statement") ?? "").replaceAll("\r\n", "\n").slice(0, MOST_CHARS);
  if (form.get("form") === "keep") return keepStatement(site, request, statement);
  const format = form.get("form") === "csv" ? "csv" : "json";
  // After two dashes nothing is taken for an option.
  const words = ["sql", "--format", format, "--timeout", String(TIME_S), "--", statement];
  const end = await site.runStatement(words, { timeMs: TIME_S * 1_000 + SPARE_MS });
  if (end.code === 0 && format === "csv") {
    return { kind: "csv", name: "nightdesk.csv", chunks: oneChunk(end.stdout) };
  }
  const result =
    end.code === 0
      ? rowsHtml(end)
      : markup`<pre class="failure" role="alert">${failureTextOf(end)}</pre>`;
  return page({
    title: "SQL",
    menu: "/sql",
    body: consoleHtml(session, {
      views: await selectViewNames(site.database),
      saved: await selectSavedQueries(site.database),
      statement,
      name: form.get("name") ?? "",
      result,
    }),
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
  const shown = rows.slice(0, SHOWN_ROWS);
  const columns = names.map((name): HtmlColumn<Readonly<Record<string, unknown>>> => {
    const isNumeric = shown.every((row) => row[name] == null || typeof row[name] === "number");
    return [name, (row) => cellText(row[name]), isNumeric ? RIGHT : {}];
  });
  return markup`<p class="note" role="status">${countOf(rows.length, "row")}${more}.</p>
${htmlTable(shown, columns)}`;
}

function cellText(value: unknown): string | null {
  if (value == null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.slice(0, MOST_CELL).toWellFormed();
}

const MOST_CELL = 500;
