import { z } from "zod";
import { htmlTable } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { selectIndexedSources, selectIndexFailures } from "../../shared/views/index-state.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { explainCode } from "../../shared/views/remedies.ts";
import { NAME, RIGHT, WORDS } from "../../shared/views/section.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { headHtml } from "../layout.ts";
import { uploadHtml } from "../uploads.ts";
import { toolFailureText } from "../tools.ts";

const MOST_CHARS = 1_000;
const HITS = 20;

/** The index: its sources, the files that could not be indexed, and a search that explains each hit. */
export const INDEX: readonly Route[] = [
  {
    path: "/index",
    answer: async (site: Site, { query, session }: SiteRequest): Promise<Answer> => {
      const text = (query.get("q") ?? "").replaceAll("\0", "").trim().slice(0, MOST_CHARS);
      const body = markup`${headHtml("Index")}
<form class="filters" method="get" action="/index" role="search" aria-label="Index"><label>search<input type="search" name="q" value="${text}" size="40"></label><button>Search</button></form>
${text === "" ? "" : await hitsHtml(site, text)}
${uploadHtml(site.config, session)}
${await sourcesHtml(site)}`;
      return page({ title: "Index", menu: "/index", body });
    },
  },
];

const foundSchema = z.object({
  reranker: z.string().nullish(),
  hits: z.array(
    z.object({
      path: z.string(),
      heading_path: z.string().nullish(),
      line_start: z.number(),
      line_end: z.number(),
      score: z.number(),
      text: z.string(),
      day: z.string().nullish(),
      day_until: z.string().nullish(),
      day_source: z.string().nullish(),
      newer_versions: z.array(z.string()).nullish(),
      explain: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
});

async function hitsHtml({ tools }: Site, text: string): Promise<Html> {
  const answer = await tools.ask("search", { text, limit: HITS });
  if (!answer.ok) {
    return markup`<pre class="failure" role="alert">${toolFailureText(answer)}</pre>`;
  }
  const found = foundSchema.parse(answer.result);
  const hits = found.hits.map(
    (hit) => markup`<article><h3>${hit.path}, lines ${hit.line_start}–${hit.line_end}</h3>
<p class="note">${hit.heading_path == null ? "" : `${hit.heading_path}. `}${dateHtml(hit)}</p>
${newerHtml(hit)}
<div class="words" dir="auto">${hit.text}</div>
<details><summary class="note">Score ${hit.score.toPrecision(4)}</summary><p class="note">${explainText(hit.explain ?? {})}</p></details></article>
`,
  );
  const order =
    found.reranker == null ? "" : markup`<p class="note">Ordered by ${found.reranker}.</p>`;
  return markup`<section aria-labelledby="hits"><h2 id="hits">${countOf(hits.length, "passage")}</h2>${order}${hits}</section>`;
}

type Found = z.infer<typeof foundSchema>["hits"][number];

/** The date of its document, and its source; empty if the document was removed after the search. */
function dateHtml({ day, day_until: until, day_source: source }: Found): Html {
  if (day == null) return markup``;
  const date = (of: string): Html => markup`<time datetime="${of}">${of}</time>`;
  const span = until == null || until === day ? date(day) : markup`${date(day)} to ${date(until)}`;
  return source == null || source === "file_time"
    ? markup`Last changed ${span}. `
    : markup`Of ${span}, by ${source.replaceAll("_", " ")}. `;
}

function newerHtml({ newer_versions: newer }: Found): Html {
  const [newest, ...others] = newer ?? [];
  if (newest === undefined) return markup``;
  const more = others.length === 0 ? "" : `, and ${others.length} more between them`;
  return markup`<p class="remedy">There is a newer version: ${newest}${more}.</p>`;
}

/** The details of a score as text, with the score of each term. */
const explainText = (explain: Readonly<Record<string, unknown>>): string =>
  Object.entries(explain)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${explainValue(value)}`)
    .join("; ")
    .slice(0, MOST_CHARS);

const termSchema = z.array(z.object({ term: z.string(), score: z.number() }));

function explainValue(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(4)));
  const terms = termSchema.safeParse(value);
  if (terms.success)
    return terms.data.map(({ term, score }) => `${term} ${score.toPrecision(3)}`).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function sourcesHtml({ database, draw }: Site): Promise<Html> {
  const sources = await selectIndexedSources(database);
  const failures = await selectIndexFailures(database, MOST_FAILURES);
  const indexed = htmlTable(sources, [
    ["source", ({ source }) => source, NAME],
    ["documents", ({ documents }) => formatCount(documents), RIGHT],
    ["bytes", ({ bytes }) => formatCount(bytes), RIGHT],
    ["first indexed", (row) => draw.time(row.oldest_at)],
    ["last indexed", (row) => draw.time(row.newest_at)],
  ]);
  const failed = htmlTable(failures, [
    ["file", ({ path }) => path, NAME],
    ["code", (row) => markup`<code>${row.error_code}</code>`],
    [
      "why, and what to do",
      (row) => markup`${row.error_message}<br>${explainCode(row.error_code, null).remedy}`,
      WORDS,
    ],
  ]);
  return markup`<section aria-labelledby="sources"><h2 id="sources">Sources</h2>
${sources.length === 0 ? markup`<p class="note">Nothing is indexed: nightdesk index.</p>` : indexed}</section>
${failures.length === 0 ? "" : markup`<section aria-labelledby="failures"><h2 id="failures">Files that could not be indexed</h2>${failed}</section>`}`;
}

const MOST_FAILURES = 100;
