import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { pictureFolder, readPicture } from "../../shared/files/page-pictures.ts";
import type { ShownPage } from "../../shared/files/page-pictures.ts";
import { PICTURE_TYPES } from "../../shared/files/picture-data.ts";
import { chooseReading } from "../../shared/store/index/ocr-choices.ts";
import type { Reading } from "../../shared/store/index/ocr-choices.ts";
import { carriedElsewhere, carriedWords, hasPages } from "../../shared/views/carried-words.ts";
import type { CarriedWords } from "../../shared/views/carried-words.ts";
import { stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { doubtSchema, doubtText } from "../../shared/views/doubtful-figures.ts";
import { cutOutHtml, figureHtml, marksText } from "../../shared/views/page-picture.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { runAction } from "../run-action.ts";
import { jsonLinesOf, failureTextOf } from "../command-child.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { linesText } from "../draw.ts";
import { notFound } from "../failures.ts";
import { assertId } from "../path-ids.ts";
import { csrfField, headHtml } from "../layout.ts";
import { link, pathTo, webLink, withQuery } from "../links.ts";
import { outcomePath, outcomeHtml } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";

/** A statement on the page of its file, with its supporting words marked on the picture. */
export const PLACE: readonly Route[] = [
  {
    path: "/runs/:run/statements/:number",
    answer: async (site: Site, request: SiteRequest): Promise<Answer> => {
      const found = await findStatement(site, request);
      const title = found.statement.text.slice(0, MOST_TITLE);
      return page({ title, menu: "/batches", body: await placeBody(site, request, found) });
    },
  },
  { method: "post", path: "/runs/:run/statements/:number", answer: takeReading },
  {
    path: "/pictures/:key",
    answer: async ({ config }: Site, { part }: SiteRequest): Promise<Answer> => {
      const picture = await readPicture(pictureFolder(config), part("key"));
      if (picture === undefined) throw notFound("There is no such picture any more.");
      return { kind: "picture", type: picture.type, bytes: picture.bytes };
    },
  },
];

const MOST_TITLE = 120;

async function findStatement({ database }: Site, { part, query }: SiteRequest): Promise<Found> {
  const run = (await selectRunDetails(database, assertId(part("run"), "run or job"))).at(-1);
  const carried = run === undefined ? [] : carriedWords(run);
  const number = Number(part("number"));
  const place = Number(query.get("place") ?? 0);
  const statement =
    run === undefined || place === 0
      ? carried.find((one) => one.number === number)
      : await carriedElsewhere(database, run, { number, place });
  if (run === undefined || statement === undefined) {
    throw notFound("That statement is carried by no words of a file there.");
  }
  return { run, carried, statement };
}

const readingSchema = z.object({
  figure: z.string().max(60),
  reading: z.string(),
  words: z.string(),
});

/** Stores the reading that a person chose for a figure. */
async function takeReading(site: Site, request: SiteRequest): Promise<Answer> {
  const { database } = site;
  const { run, statement } = await findStatement(site, request);
  const { session, form } = request;
  const { figure, reading, words } = readingSchema.parse({
    figure: form.get("figure") ?? "",
    reading: form.get("reading") ?? "",
    words: form.get("words") ?? "",
  });
  const chosen: Reading = reading === "first" || reading === "second" ? reading : { words };
  const { batch_id: batchId, job_id: jobId } = run;
  const did = await runAction(
    database,
    { actor: session.user, action: "choose", batchId, jobId, detail: { figure, reading, words } },
    async () => {
      const choice = { figure, reading: chosen, by: session.user };
      const stored = await chooseReading(database, choice);
      if (stored.kind === "refused") throw new Failure("INPUT_INVALID", stored.message);
      return `${stored.chosen} stands there: ${statement.path} is indexed with it.`;
    },
  );
  const { number, place } = statement;
  return { kind: "redirect", to: outcomePath(placePath(run.run_id, number, place), did) };
}

/** @param place 0 for the supporting words; from 1 for each other cited piece that says the same */
export const placePath = (runId: string, number: number, place = 0): string =>
  withQuery(pathTo("runs", runId, "statements", String(number)), { place: place || null });

type Found = {
  readonly run: RunDetail;
  readonly carried: readonly CarriedWords[];
  readonly statement: CarriedWords;
};

/** A link to the marked page of a statement or value; empty for a file without pages. @param ordinal from 1 */
export const placeLink = (
  { run_id: run }: RunDetail,
  { path, ordinal }: { readonly path: string | null; readonly ordinal: number },
): Html =>
  path === null || !hasPages(path)
    ? markup``
    : markup`<p>${link(`${placePath(run, ordinal)}#place-mark`, "Show on its page")}</p>`;

async function placeBody(site: Site, request: SiteRequest, found: Found): Promise<Html> {
  const { run, carried, statement } = found;
  const { path, text, grade, words, lineStart, lineEnd } = statement;
  const at = carried.findIndex(({ number }) => number === statement.number);
  const [before, after] = [carried[at - 1], carried[at + 1]];
  const runId = run.run_id;
  const to = (other: CarriedWords | undefined, name: string): Html =>
    other === undefined ? markup`` : link(`${placePath(runId, other.number)}#place-mark`, name);
  return markup`${headHtml(markup`<span dir="auto">${text}</span>`, stateHtml(grade))}
<p class="note">${webLink(path)}, ${linesText(lineStart, lineEnd)}</p>
${await outcomeHtml(site.database, request.query)}
<blockquote dir="auto">${words}</blockquote>
${await pictureHtml(site, request, found)}
<p class="pager">${link(`${pathTo("runs", runId)}#claims`, "All statements")} ${to(before, "The one before")} ${to(after, "The next one")}</p>`;
}

const size = z.number();
const doubtShown = z.object({
  ...{ figure: z.string(), first_read: z.string(), second_read: z.string().nullable() },
  ...doubtSchema.pick({ confidence: true, certainty: true, chosen: true }).shape,
  box: z.tuple([size, size, size, size]),
});
const shownSchema = z.object({
  statements: z.tuple([
    z.union([
      z.object({
        page: z.number().nullable(),
        picture: z.object({
          ...{ key: z.string(), width: size, height: size, type: z.enum(PICTURE_TYPES) },
          size: z.object({ unit: z.enum(["points", "pixels"]), width: size, height: size }),
        }),
        boxes: z.array(z.object({ box: z.tuple([size, size, size, size]) })),
        ...{ share: size, times: size },
        doubts: z.array(doubtShown),
      }),
      z.object({ picture: z.null(), error_message: z.string() }),
    ]),
  ]),
});

const DRAW_MS = 90_000;

async function pictureHtml(
  site: Site,
  { session }: SiteRequest,
  { run: { run_id: runId }, statement: { number, place: nth, path, words } }: Found,
): Promise<Html> {
  const which = ["--statement", String(number), ...(nth === 0 ? [] : ["--place", String(nth)])];
  const end = await site.runDrawing(["evidence", "show", ...which, "--json", "--", runId], {
    timeMs: DRAW_MS,
  });
  if (end.code !== 0) return markup`<p class="remedy">${failureTextOf(end)}</p>`;
  const [shown] = shownSchema.parse(jsonLinesOf(end)[0]).statements;
  if (shown.picture === null) return markup`<p class="remedy">${shown.error_message}</p>`;
  const { key, ...picture } = shown.picture;
  const boxes = shown.boxes.map(({ box }) => box);
  const place = shown.page === null ? path : `${path}, page ${shown.page}`;
  const note = marksText(shown);
  const src = pathTo("pictures", key);
  const doubts = shown.doubts.map((doubt) =>
    doubtHtml({ ...doubt, src, size: picture.size, form: placePath(runId, number, nth) }, session),
  );
  return markup`${doubts}${note === "" ? "" : markup`<p class="note">${note}</p>`}
${figureHtml({ ...picture, boxes, id: "place", src, place, words })}`;
}

type Doubt = z.infer<typeof doubtShown> & {
  readonly src: string;
  readonly size: ShownPage["size"];
  /** The action of the form. */
  readonly form: string;
};

/** A doubtful figure: its picture, and the readings to choose from. */
function doubtHtml(
  { figure, first_read: first, second_read: second, form, ...doubt }: Doubt,
  session: Session,
): Html {
  const { src, size: of, box } = doubt;
  const begin = markup`<form method="post" action="${form}">${csrfField(session)}<input type="hidden" name="figure" value="${figure}">`;
  const button = (reading: string, words: string): Html =>
    markup`<button class="plain" name="reading" value="${reading}">${words}</button> `;
  const choices = [button("first", first), ...(second === null ? [] : [button("second", second)])];
  return markup`<section class="card"><h2>What stands here?</h2>
${cutOutHtml({ src, size: of, box, words: `The picture of ${first}` })}
<p class="note">${doubtText({ first, second, ...doubt })}</p>
${begin}<p class="actions">${choices}</p></form>
${begin}<p class="actions"><label>Something else <input name="words" type="text" maxlength="100" size="12" required></label> <button class="plain" name="reading" value="as">Choose it</button></p></form></section>
`;
}
