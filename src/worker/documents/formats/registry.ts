import { hash } from "node:crypto";
import { posix } from "node:path";
import type { ReadPages } from "../../ocr/with-read-pages.ts";
import {
  isLockFile,
  isOwnOutput,
  isOwnWorkbook,
  OWN_RESULTS,
} from "../../../shared/files/skipped-files.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import { attachmentPlaces } from "../../../shared/files/attachment-path.ts";
import { ATTACHED_PICTURES, countedOut } from "../left-out.ts";
import { pagesToRead, READ_WITH } from "../extraction.ts";
import type {
  ExtractedText,
  Extraction,
  Extractor,
  ExtractText,
  ReadInChild,
  SourceEncoding,
  Unreadable,
} from "../extraction.ts";
import { NO_PLACES } from "../places.ts";
import type { ReaderLimits } from "../reader/reader.ts";
import { inChild } from "../reader/reader.ts";
import { tooMany } from "../reader/text-builder.ts";
import type { Format } from "./format.ts";
import { JSON_TEXT } from "./json.ts";
import { MARKDOWN } from "./markdown.ts";
import { byPage } from "./page-blocks.ts";
import { PLAIN } from "./plain.ts";
import { rowBlocks } from "./table-rows.ts";
import { UTF8 } from "./utf8.ts";
import { YAML } from "./yaml.ts";

type Parsed = {
  /** Name and version. Raise the version when the same bytes give another text. */
  readonly version: `${string} ${number}`;
  readonly extensions: readonly string[];
  /** A module of this folder that only the reading process loads, and the function to call. */
  readonly by: readonly [module: string, read: string];
  /** Default: as Markdown, which most readers write. */
  readonly cut?: Format["cut"];
};

const readBy = ({ version, extensions, by: [module, name], cut }: Parsed): Format => ({
  name: version.replace(/ .*/, ""),
  extensions,
  extractor: inChild(version, {
    home: import.meta.url.replace(/registry(?=\.[jt]s$)/, module),
    name,
  }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: cut ?? ((...text) => MARKDOWN.cut(...text)),
});

type Refused = { readonly extensions: readonly string[]; readonly why: string };

/** A format that is recognised but not read; the refusal says what to do. */
const refuse = ({ extensions, why }: Refused): Format => ({
  ...PLAIN,
  name: `not read (${extensions[0] ?? ""})`,
  extensions,
  extractor: {
    version: "refused 1",
    extract: async () => ({
      kind: "unreadable",
      code: "FILE_FORMAT_INVALID",
      why,
      lasts: "always",
    }),
  },
});

const cutRows: Format["cut"] = (lines, firstLine) => ({
  kind: "blocks",
  blocks: rowBlocks(lines, firstLine),
});

const cutPages: Format["cut"] = (lines, firstLine, settings) => {
  const cut = PLAIN.cut(lines, firstLine, settings);
  return cut.kind === "pieces" ? cut : { kind: "blocks", blocks: byPage(lines, cut.blocks) };
};

/** Pictures: their text comes from OCR, page by page. */
const PICTURE = readBy({
  version: "picture 1",
  extensions: [".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".heic", ".heif"],
  by: ["picture", "readPicture"],
  cut: cutPages,
});

/** All formats with endings of their own; any other file is plain text. */
export const FORMATS: readonly Format[] = [
  MARKDOWN,
  JSON_TEXT,
  YAML,
  readBy({ version: "csv 7", extensions: [".csv", ".tsv"], by: ["csv", "readCsv"], cut: cutRows }),
  readBy({ version: "html 8", extensions: [".html", ".htm", ".xhtml"], by: ["html", "readHtml"] }),
  readBy({ version: "docx 7", extensions: [".docx", ".docm"], by: ["docx", "readDocx"] }),
  readBy({ version: "eml 10", extensions: [".eml"], by: ["mail", "readEml"] }),
  readBy({ version: "mbox 11", extensions: [".mbox"], by: ["mail", "readMbox"] }),
  readBy({ version: "odt 6", extensions: [".odt"], by: ["odt", "readOdt"] }),
  readBy({ version: "pdf 9", extensions: [".pdf"], by: ["pdf", "readPdf"], cut: cutPages }),
  readBy({
    version: "xlsx 8",
    extensions: [".xlsx", ".xlsm"],
    by: ["xlsx", "readXlsx"],
    cut: cutRows,
  }),
  readBy({ version: "ods 8", extensions: [".ods"], by: ["ods", "readOds"], cut: cutRows }),
  readBy({ version: "pptx 6", extensions: [".pptx", ".pptm"], by: ["pptx", "readPptx"] }),
  readBy({ version: "odp 5", extensions: [".odp"], by: ["odp", "readOdp"] }),
  readBy({ version: "epub 5", extensions: [".epub"], by: ["epub", "readEpub"] }),
  readBy({ version: "rtf 6", extensions: [".rtf"], by: ["rtf", "readRtf"] }),
  readBy({ version: "zip 3", extensions: [".zip"], by: ["zip", "readZip"] }),
  refuse({
    extensions: [".doc", ".dot", ".xls", ".xlt", ".xlsb", ".ppt", ".pps", ".pot"],
    why: "is of a format of Office that is not read: open it in Word, Excel, PowerPoint or LibreOffice, and save it as .docx, .xlsx or .pptx.",
  }),
  refuse({
    extensions: [".msg", ".pst"],
    why: "is a mail in the format of Outlook, which is not read: save it as .eml, or drag it out of Outlook on the web.",
  }),
  PICTURE,
  readBy({ version: "ics 3", extensions: [".ics"], by: ["ics", "readIcs"] }),
  readBy({ version: "vcf 2", extensions: [".vcf"], by: ["vcf", "readVcf"] }),
];

/** The format of a text by the ending of its path, and by the text itself if the ending does not decide. */
export function formatOf(path: string, text: string): Format {
  const extension = extensionOf(path);
  const format = findFormat(extension);
  return format?.isOf(text, extension) === true ? format : PLAIN;
}

/** The extractor for a file, by the ending of its path. */
const extractorOf = (path: string): Extractor => (findFormat(extensionOf(path)) ?? PLAIN).extractor;

/** Whether the present extractor of a file has the version that made a stored text. */
export function isCurrentExtractor(path: string, version: string): boolean {
  const extractor = extractorOf(path);
  const [made = ""] = version.split(BEHIND_VERSION);
  return extractor.version === made || extractor.others?.includes(made) === true;
}

/**
 * A fingerprint of everything that decides whether a file can be read. When it changes, files that failed are tried again.
 * @param ocr the fingerprint of the OCR settings
 */
export function readerFingerprint(
  limits: ReaderLimits,
  encodings: readonly SourceEncoding[] = [],
  ocr: string | null = null,
): string {
  const versions = [...FORMATS, PLAIN].map(({ extractor }) => extractor.version);
  return hash(
    "sha256",
    JSON.stringify([versions, limits, ...encodings, ...(ocr === null ? [] : [ocr])]),
    "hex",
  ).slice(0, 32);
}

/** Deepest level of archives in archives whose files are read. */
const DEEPEST_ARCHIVE = 2;

type ExtractionSettings = {
  /** Results of OCR; without them a page that is a picture has no words. */
  readonly pages?: ReadPages | undefined;
  /** Endings of files that are read from archives; attachments of a mail are read whatever their ending. */
  readonly allowed?: readonly string[] | "any";
  /** Encodings of sources; the first one whose prefix fits a path counts. */
  readonly encodings?: readonly SourceEncoding[];
  /** Most UTF-16 units of any text, because indexing holds all of it in memory. */
  readonly mostChars?: number;
};

/**
 * Makes the function by which the sandbox and the index scan read files.
 * @param read runs third-party parsers in a child process
 */
export const extractTextBy =
  (
    read: ReadInChild,
    { allowed = "any", encodings = [], mostChars = Infinity, pages }: ExtractionSettings = {},
  ): ExtractText =>
  async (path, bytes) => {
    if (archivesIn(path) > DEEPEST_ARCHIVE) return TOO_DEEP;
    if (isLockFile(posix.basename(path))) return LOCK_FILE;
    const extractor = extractorOf(path);
    const noEvidence = { ...NO_EVIDENCE, extractor: extractor.version };
    if (isOwnOutput(bytes)) return noEvidence;
    const isTooLong = extractor === UTF8 && bytes.length > MOST_BYTES_OF_A_UNIT * mostChars;
    if (isTooLong) return tooLong(mostChars);
    const encoding = encodings.find(({ prefix }) => path.startsWith(prefix))?.encoding;
    const own = await extractor.extract(bytes, read, encoding);
    if (own.kind === "unreadable" && bytes.length === 0) return EMPTY;
    const extracted = await withPictures(own, bytes, { pages, chars: mostChars });
    if (extracted.kind === "unreadable") return extracted;
    if (isOwnWorkbook(extracted.text)) return noEvidence;
    if (extracted.text.length > mostChars) return tooLong(mostChars);
    const { attachments = [], leftOut = {} } = extracted;
    const isArchive = extensionOf(path) === ".zip";
    const isAllowed = (name: string): boolean =>
      allowed === "any" || allowed.includes(extensionOf(name));
    const held = attachments.filter(({ name }) =>
      isPicture(name)
        ? pages !== undefined && isAllowed(name)
        : isHeldFormat(name) && (!isArchive || isAllowed(name)),
    );
    const barred = attachments.length - held.length;
    const unread = pages === undefined ? attachments.filter(({ name }) => isPicture(name)) : [];
    return {
      ...extracted,
      extractor: [
        extracted.extractor ?? extractor.version,
        ...(extracted.readWith === undefined ? [] : [READ_WITH, extracted.readWith]),
        ...(encoding === undefined ? [] : [asEncoding(extracted)]),
      ].join(""),
      ...(attachments.length === 0 ? {} : { attachments: held }),
      ...countedOut({
        ...leftOut,
        [ATTACHED_PICTURES]: unread.length,
        "files that are not allowed": isArchive ? barred : 0,
      }),
    };
  };

async function withPictures(
  extracted: Extraction,
  bytes: Buffer,
  { pages, chars }: { readonly pages: ReadPages | undefined; readonly chars: number },
): Promise<Extraction> {
  if (pages === undefined || pagesToRead(extracted).length === 0) return extracted;
  const { withReadPages } = await import("../../ocr/with-read-pages.ts");
  return withReadPages(extracted, bytes, { pages, limits: { chars } });
}

/** UTF-8 takes at most three bytes per UTF-16 unit. */
const MOST_BYTES_OF_A_UNIT = 3;

function tooLong(mostChars: number): Unreadable {
  const { code, message } = tooMany("characters of text", mostChars, "max_chars");
  return { kind: "unreadable", code, why: message, lasts: "always" };
}

/** Stands before the encoding in the version of an extractor, if the source names one: another encoding gives another text. */
const AS = " as ";
/** Separates the version of an extractor from what follows it. */
const BEHIND_VERSION = new RegExp(`${AS}|${READ_WITH}`);

function asEncoding({ metadata }: ExtractedText): string {
  const encoding = metadata?.["encoding"];
  return typeof encoding === "string" && encoding !== "utf-8" ? `${AS}${encoding}` : "";
}

const TOO_DEEP: Unreadable = {
  kind: "unreadable",
  code: "FILE_TOO_LARGE",
  why: "lies in too many archives to be read: unpack them.",
  lasts: "always",
};

const EMPTY: Unreadable = {
  kind: "unreadable",
  code: "FILE_EMPTY",
  why: "holds no bytes: copy it anew from where it came.",
  lasts: "always",
};

const LOCK_FILE: Unreadable = {
  kind: "unreadable",
  code: "FILE_FORMAT_INVALID",
  why: "is what Office leaves beside a file that is open, and holds no text: name the file itself.",
  lasts: "always",
};

/** Result for Nightdesk's own reports and exports: a model's words must not become evidence for themselves. */
const NO_EVIDENCE: ExtractedText = {
  kind: "text",
  text: "",
  places: NO_PLACES,
  leftOut: { [OWN_RESULTS]: 1 },
};

function archivesIn(path: string): number {
  const [place] = attachmentPlaces(path);
  const parts = place === undefined ? [path] : [place.file, ...place.names];
  return parts.filter((part) => extensionOf(part) === ".zip").length;
}

/** Whether an attachment of that name is read: it has a known format or is a `.txt`, and is no picture. */
export const isHeldFormat = (name: string): boolean => {
  const extension = extensionOf(name);
  return (extension === ".txt" || findFormat(extension) !== undefined) && !isPicture(name);
};

const isPicture = (name: string): boolean => findFormat(extensionOf(name)) === PICTURE;

const extensionOf = (path: string): string => posix.extname(path).toLowerCase();

const findFormat = (extension: string): Format | undefined =>
  FORMATS.find(({ extensions }) => extensions.includes(extension));
