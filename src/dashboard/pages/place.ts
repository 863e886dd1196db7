import { z } from "zod";
import { PICTURE_TYPES, pictureFolder, readPicture } from "../../shared/page-pictures.ts";
import { carriedWords } from "../../shared/views/carried-words.ts";
import type { CarriedWords } from "../../shared/views/carried-words.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { figureHtml, marksText } from "../../shared/views/page-picture.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import { jsonLinesOf, wordsOf } from "../command-child.ts";
import { page } from "../desk.ts";
import type { Answer, Desk, DeskRequest, Route } from "../desk.ts";
import { stateHtml } from "../draw.ts";
import { notFound } from "../failures.ts";
import { assertId } from "../find.ts";
import { headHtml } from "../layout.ts";
import { link, pathTo, webLink } from "../links.ts";

/** The page of a file on which the words stand that carry a statement, and its picture. */
export const PLACE: readonly Route[] = [
  {
    method: "get",
    path: "/runs/:run/statements/:number",
    answer: async (desk: Desk, { part }: DeskRequest): Promise<Answer> => {
      const id = assertId(part("run"), "run or job");
      const run = (await selectRunDetails(desk.database, id)).at(-1);
      const carried = run === undefined ? [] : carriedWords(run);
      const at = carried.findIndex(({ number }) => String(number) === part("number"));
      const found = carried[at];
      if (run === undefined || found === undefined) {
        throw notFound("That statement is carried by no words of a file.");
      }
      const others = [carried[at - 1], carried[at + 1]] as const;
      const body = await placeBody(desk, run.run_id, found, others);
      return page({ title: found.text.slice(0, MOST_TITLE), menu: "/batches", body });
    },
  },
  {
    method: "get",
    path: "/pictures/:key",
    answer: async ({ config }: Desk, { part }: DeskRequest): Promise<Answer> => {
      const picture = await readPicture(pictureFolder(config), part("key"));
      if (picture === undefined) throw notFound("There is no such picture any more.");
      return { kind: "picture", type: picture.type, bytes: picture.bytes };
    },
  },
];

const MOST_TITLE = 120;

export const placePath = (runId: string, number: number): string =>
  pathTo("runs", runId, "statements", String(number));

type Others = readonly [before: CarriedWords | undefined, after: CarriedWords | undefined];

async function placeBody(
  desk: Desk,
  runId: string,
  carried: CarriedWords,
  [before, after]: Others,
): Promise<Html> {
  const { path, text, grade, words, lineStart, lineEnd } = carried;
  const lines = lineStart === lineEnd ? `line ${lineStart}` : `lines ${lineStart}–${lineEnd}`;
  const to = (other: CarriedWords | undefined, name: string): Html =>
    other === undefined ? markup`` : link(`${placePath(runId, other.number)}#place-mark`, name);
  return markup`${headHtml(markup`<span dir="auto">${text}</span>`, stateHtml(grade))}
<p class="note">${webLink(path)}, ${lines}</p>
<blockquote dir="auto">${words}</blockquote>
${await pictureHtml(desk, runId, carried)}
<p class="pager">${link(`${pathTo("runs", runId)}#claims`, "All statements")} ${to(before, "The one before")} ${to(after, "The next one")}</p>`;
}

const size = z.number();
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
      }),
      z.object({ picture: z.null(), error_message: z.string() }),
    ]),
  ]),
});

const DRAW_MS = 90_000;

async function pictureHtml(
  desk: Desk,
  runId: string,
  { number, path, words }: CarriedWords,
): Promise<Html> {
  const end = await desk.runDrawing(
    ["evidence", "show", "--statement", String(number), "--json", "--", runId],
    { timeMs: DRAW_MS },
  );
  if (end.code !== 0) return markup`<p class="remedy">${wordsOf(end)}</p>`;
  const [shown] = shownSchema.parse(jsonLinesOf(end)[0]).statements;
  if (shown.picture === null) return markup`<p class="remedy">${shown.error_message}</p>`;
  const { key, ...picture } = shown.picture;
  const boxes = shown.boxes.map(({ box }) => box);
  const place = shown.page === null ? path : `${path}, page ${shown.page}`;
  const said = marksText(shown);
  return markup`${said === "" ? "" : markup`<p class="note">${said}</p>`}
${figureHtml({ ...picture, boxes, id: "place", src: pathTo("pictures", key), place, words })}`;
}
