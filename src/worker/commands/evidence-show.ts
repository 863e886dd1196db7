import { resolve } from "node:path";
import { hash } from "node:crypto";
import { writeAtomicFile } from "../../shared/files/atomic-file.ts";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import {
  pictureFolder,
  pictureKey,
  readPicture,
  storePicture,
} from "../../shared/files/page-pictures.ts";
import type { PagePicture } from "../../shared/files/page-pictures.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { carriedElsewhere, carriedWords } from "../../shared/views/carried-words.ts";
import type { CarriedWords } from "../../shared/views/carried-words.ts";
import { doubtText } from "../../shared/views/doubtful-figures.ts";
import { marksText } from "../../shared/views/page-picture.ts";
import { selectPassages } from "../../shared/views/result-list.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import type { PageToDraw } from "../ocr/place/draw-page.ts";
import { openReadPages } from "../ocr/open-read-pages.ts";
import { findPackage, PDFIUM, TESSERACT } from "../ocr/packages.ts";
import { modelsOf, ocrFoldersOf } from "../ocr/places.ts";
import type { StoredPage } from "../ocr/with-read-pages.ts";
import { doubtsOn, pictureOf } from "../ocr/place/page-picture.ts";
import { placesHtml } from "../ocr/place/places-html.ts";
import type { ShownPlace } from "../ocr/place/places-html.ts";
import { openFiles } from "../resources.ts";
import { bytesOf } from "../sandbox/open-sandbox.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import { quotePath } from "../sandbox/names.ts";
import { readerLimitsOf } from "../settings.ts";
import { withoutDoubts } from "../text/doubt-mark.ts";

/** Shows the words of files that support the statements of a run, or of the last run of a job. */
export const evidenceShow: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { output: out } = context.invocation.options;
  if (typeof out === "string" && !/\.html?$/i.test(out)) {
    throw new Failure("USAGE_ERROR", `--output ${out} is to end with .html.`);
  }
  return withDatabase(context, "must-exist", async (database) => {
    const run = await selectRun(database, invocation.args[0] ?? "");
    const carried = await selectCarried({ context, database }, run);
    const sandbox = await openFiles(context.config, database);
    try {
      const places: ShownPlace[] = [];
      for (const own of byFile(carried)) {
        const file = await openShown({ context, database, sandbox }, own);
        for (const one of own.places)
          places.push(await showPlace({ context, database, file }, one));
      }
      places.sort((one, other) => one.number - other.number);
      return await printPlaces(context, run, places);
    } finally {
      sandbox.close();
    }
  });
};

async function selectRun(database: Database, id: string): Promise<RunDetail> {
  const found = await findId(database, id, ["run", "job"]);
  const runs = found === undefined ? [] : await selectRunDetails(database, found);
  const last = runs.at(-1);
  if (last !== undefined) return last;
  throw new Failure(
    "NOT_FOUND",
    `There is no run or job ${JSON.stringify(id)}. nightdesk runs list shows the ids.`,
  );
}

async function selectCarried(
  { context: { invocation }, database }: ShowContext,
  run: RunDetail,
): Promise<readonly CarriedWords[]> {
  const { statement: wanted, place } = invocation.options;
  if (typeof place === "number") return [await selectOther(database, run, { wanted, place })];
  const carried = carriedWords(run);
  const chosen = carried.filter(({ number }) => wanted === undefined || number === wanted);
  if (chosen.length > 0) return chosen;
  const numbers = carried.map(({ number }) => number).join(", ");
  throw new Failure(
    "NOT_FOUND",
    wanted === undefined || carried.length === 0
      ? `No statement of run ${run.run_id} is carried by words of a file.`
      : `Statement ${String(wanted)} of run ${run.run_id} is carried by no words of a file; these are: ${numbers}.`,
  );
}

type OtherPlace = { readonly wanted: unknown; readonly place: number };

async function selectOther(
  database: Database,
  run: RunDetail,
  { wanted, place }: OtherPlace,
): Promise<CarriedWords> {
  if (typeof wanted !== "number") {
    throw new Failure(
      "USAGE_ERROR",
      `--place ${place} is of a statement: name it by --statement N.`,
    );
  }
  const other = await carriedElsewhere(database, run, { number: wanted, place });
  if (other !== undefined) return other;
  throw new Failure(
    "NOT_FOUND",
    `Statement ${wanted} of run ${run.run_id} has no place ${place} beside its own that the index still holds.`,
  );
}

type FileToShow = Pick<CarriedWords, "path" | "sha256"> & { places: CarriedWords[] };

/** Groups by path: a run has one version of each file. */
function byFile(carried: readonly CarriedWords[]): Iterable<FileToShow> {
  const files = new Map<string, FileToShow>();
  for (const one of carried) {
    const { path, sha256 } = one;
    const file = files.get(path) ?? { path, sha256, places: [] };
    file.places.push(one);
    files.set(path, file);
  }
  return files.values();
}

type ShowContext = { readonly context: CommandContext; readonly database: Database };

type FileSource = Pick<Sandbox, "openFile">;

/** The bytes of a file, or the refusal to show it, and the texts that were read from pictures of its pages. */
type ShownFile = {
  readonly bytes: Buffer | Refusal;
  readonly read: ReadonlyMap<number, StoredPage>;
};

async function openShown(
  { context: { config }, database, sandbox }: ShowContext & { readonly sandbox: FileSource },
  { path, sha256 }: FileToShow,
): Promise<ShownFile> {
  const { ocr } = config.index;
  const bytes = await readUnchanged(sandbox, path, sha256);
  if (ocr === null) return { bytes, read: new Map() };
  return { bytes, read: await openReadPages(ocr, database).of(sha256) };
}

/** Width of the picture in pixels: A4 at 190 dpi. */
const WIDTH = 1_600;

async function showPlace(
  { context: { config, invocation }, database, file }: ShowContext & { readonly file: ShownFile },
  carried: CarriedWords,
): Promise<ShownPlace> {
  const { path, sha256, page } = carried;
  const { bytes, read } = file;
  const words = withoutDoubts(carried.words);
  const wanted = { page, words, width: WIDTH, ...(await aroundWords(database, carried)) };
  const stored = read.get(page ?? 1);
  const record = stored?.kind === "read" ? stored.record : null;
  const key = pictureKey({ ...wanted, sha256, record });
  const place = (shown: ShownPlace["shown"]): ShownPlace => {
    const doubts = record === null || shown.kind === "refused" ? [] : doubtsOn(shown, record);
    return { ...carried, shown, key, doubts };
  };
  if (!Buffer.isBuffer(bytes)) return place(bytes);
  const folder = pictureFolder(config);
  const known = await readPicture(folder, key);
  if (known !== undefined) return place(known);
  const folders = ocrFoldersOf(config, invocation.packageRoot);
  const [pdfium, core] = [PDFIUM, TESSERACT].map((each) => findPackage(each, folders.packages));
  const [model] = config.index.ocr?.languages.flatMap((each) => modelsOf(folders, each)) ?? [];
  const frames = core === undefined || model === undefined ? undefined : { core, model };
  const whole = { ...wanted, record, pdfium, frames };
  const shown = await pictureOf({ path, bytes }, whole, readerLimitsOf(config));
  if (shown.kind !== "refused") await storePicture(folder, key, shown);
  return place(shown);
}

/** The same bytes as at the time of the run, from the file or from the database. */
async function readUnchanged(
  sandbox: FileSource,
  path: string,
  sha256: string,
): Promise<Buffer | Refusal> {
  const opened = await sandbox.openFile({ path, lookup: "exact", sha256 });
  if (opened.kind === "refused") return opened;
  const bytes = bytesOf(opened);
  if (hash("sha256", bytes, "hex") !== sha256) {
    return refuse(
      "EVIDENCE_INVALID",
      `${quotePath(path)} has changed since it was read: its pages may be others.`,
    );
  }
  return bytes;
}

const CHARS_AROUND = 120;

/** The text before and after the words in their file, if the index has it. */
async function aroundWords(
  database: Database,
  { path, sha256, lineStart, lineEnd, words }: CarriedWords,
): Promise<Pick<PageToDraw, "before" | "after">> {
  const passages = await selectPassages(database, { path, sha256, lineStart, lineEnd });
  const passage = passages.find(({ text }) => text.includes(words));
  if (passage === undefined) return { before: "", after: "" };
  // If the words occur more than once in the passage, prefers those on the recorded lines.
  const lines = passage.text.split("\n").slice(0, Math.max(0, lineStart - passage.line_start));
  const from = passage.text.indexOf(words, lines.join("\n").length);
  const start = from < 0 ? passage.text.indexOf(words) : from;
  const end = start + words.length;
  return {
    before: passage.text.slice(Math.max(0, start - CHARS_AROUND), start),
    after: passage.text.slice(end, end + CHARS_AROUND),
  };
}

async function printPlaces(
  context: CommandContext,
  run: RunDetail,
  places: readonly ShownPlace[],
): Promise<number> {
  const { invocation, terminal } = context;
  const { output: out, json } = invocation.options;
  const file = typeof out === "string" ? resolve(invocation.cwd, out) : null;
  if (file !== null) await writeNew(context, file, placesHtml(run, places));
  if (json === true) {
    const { run_id, job_id } = run;
    await terminal.printJson({ ok: true, run_id, job_id, file, statements: places.map(placeJson) });
    return EXIT.ok;
  }
  for (const place of places) {
    for (const line of placeLines(place)) await terminal.printText(line);
  }
  if (file !== null) await terminal.print(`Written: ${file}`);
  return EXIT.ok;
}

async function writeNew(
  { invocation }: CommandContext,
  file: string,
  content: string,
): Promise<void> {
  const existing = invocation.options["force"] === true ? "replace" : "keep";
  try {
    await writeAtomicFile(file, content, existing);
  } catch (error) {
    const why = hasCode(error, "EEXIST")
      ? "is there already. Give --force to replace it, or name another file."
      : `can't be written (${error instanceof Error ? error.message.replace(/,.*/s, "") : String(error)}).`;
    throw new Failure("INPUT_INVALID", `--output ${file} ${why}`);
  }
}

/** Boxes in the unit of the page, and as shares of its width and height. */
function placeJson({
  shown,
  key,
  lineStart,
  lineEnd,
  words,
  doubts,
  ...place
}: ShownPlace): object {
  const carried = { ...place, line_start: lineStart, line_end: lineEnd, quote: words };
  if (shown.kind === "refused") {
    return { ...carried, picture: null, error_code: shown.code, error_message: shown.message };
  }
  const { bytes, boxes, page, share, times, type, width, height, size } = shown;
  return {
    ...{ ...carried, page },
    picture: { key, type, bytes: bytes.length, width, height, size },
    boxes: boxes.map((box) => ({ box, shares: sharesOf(box, size) })),
    ...{ share, times },
    doubts: doubts.map(({ box: [left, top], shown: on, first, second, ...doubt }) => ({
      figure: [place.sha256.slice(0, 8), page ?? place.page ?? 1, left, top].join("."),
      ...{ first_read: first, second_read: second, confidence: doubt.confidence },
      ...{ certainty: doubt.certainty, chosen: doubt.chosen, box: on },
    })),
  };
}

const sharesOf = (
  box: PagePicture["boxes"][number],
  { width, height }: PagePicture["size"],
): readonly number[] =>
  box.map((side, at) => Number((side / (at % 2 === 0 ? width : height)).toFixed(5)));

function placeLines({
  number,
  text,
  grade,
  path,
  lineStart,
  lineEnd,
  words,
  shown,
  doubts,
}: ShownPlace): readonly string[] {
  const lines = lineStart === lineEnd ? `line ${lineStart}` : `lines ${lineStart}-${lineEnd}`;
  const page = shown.kind === "refused" || shown.page === null ? "" : `, page ${shown.page}`;
  const said = shown.kind === "refused" ? shown.message : marksText(shown);
  return [
    `${number}. ${text}${grade === "" ? "" : ` (${grade})`}`,
    `   ${path}, ${lines}${page}`,
    ...words.split("\n").map((line) => `   > ${line}`),
    ...(said === "" ? [] : [`   ${said}`]),
    ...doubts.map((doubt) => `   ${doubtText(doubt)}`),
  ];
}
