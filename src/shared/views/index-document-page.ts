import type { DocumentVersion } from "../store/index/document-versions.ts";
import type { IndexedDocumentView } from "./index-documents.ts";
import { countOf, countsByKind, formatCount } from "./quantity.ts";
import { code, fact, time } from "./section.ts";
import type { Fact, Page } from "./section.ts";

/** `day_source` in words. */
const SOURCE_WORDS: Readonly<Record<string, string>> = {
  frontmatter: "its frontmatter",
  mail_header: "the Date of the mail",
  html_meta: "a meta element of the page",
  file_name: "the name of the file",
  text: "its first lines",
  properties: "the properties of the file",
  file_time: "the last change of the file, because nothing in it says a date",
};

const sourceWords = (source: string): string => SOURCE_WORDS[source] ?? source;

/** The record of a document in the index, as `--json` prints it. */
export const documentJson = (
  document: IndexedDocumentView,
  version: DocumentVersion | undefined,
): Record<string, unknown> => ({
  ok: true,
  ...document,
  day: version?.day ?? null,
  day_until: version?.dayUntil ?? null,
  day_source: version?.daySource ?? null,
  newer_versions: version?.newer ?? [],
});

/** The same as a page. */
export const documentPage = (
  document: IndexedDocumentView,
  version: DocumentVersion | undefined,
): Page => ({
  title: document.path,
  facts: [
    fact("Path", document.path, ...(document.title === null ? [] : [document.title])),
    ...dateFacts(document, version),
    fact("Source", document.source),
    ...(document.mail === null ? [] : [fact("Attachment of", document.mail)]),
    ...(document.attachments.length === 0 ? [] : [fact("Attachments", ...document.attachments)]),
    fact(
      "Read as",
      `${document.extractor}: ${formatCount(document.bytes)} bytes, ${formatCount(document.chars)} characters, ${countOf(document.chunks, "chunk")}, ${document.language}`,
    ),
    fact("SHA-256", code(document.sha256)),
    fact("Indexed", time(document.indexed_at)),
    ...(document.metadata === null ? [] : [fact("Metadata", JSON.stringify(document.metadata))]),
    ...(document.metadata_problem === null
      ? []
      : [fact("Metadata", `Its frontmatter ${document.metadata_problem}.`)]),
    ...(Object.keys(document.left_out).length === 0
      ? []
      : [fact("Not in its text", countsByKind(document.left_out))]),
  ],
  sections: [],
});

function dateFacts(
  { dates }: IndexedDocumentView,
  version: DocumentVersion | undefined,
): readonly Fact[] {
  if (version === undefined) return [];
  const { day, dayUntil, daySource, newer } = version;
  const span = day === dayUntil ? day : `${day} to ${dayUntil}`;
  const others = dates.slice(1).map(({ source, date }) => `${date} by ${sourceWords(source)}`);
  return [
    fact("Date", `${span}, by ${sourceWords(daySource)}`, ...others),
    ...(newer.length === 0 ? [] : [fact("Newer versions", ...newer)]),
  ];
}
