import { attachmentName } from "../../../shared/files/attachment-path.ts";
import type { Attachment } from "../extraction.ts";
import type { TextLimits } from "../reader/text-builder.ts";

/** As the parser of mails gives it. */
export type MimePart = {
  readonly filename: string | null;
  readonly mimeType: string;
  /** Whether it belongs to the words, as a logo below them does. */
  readonly related?: boolean | undefined;
  readonly content: ArrayBuffer | Uint8Array | string;
};

/** What a mail holds beside its words: as it is named in the text, and as it is handed over. */
export type AttachedPart = Attachment & {
  readonly type: string;
  readonly givenName: string;
  /** A picture among the words, which is no document. */
  readonly isShown: boolean;
};

/** The attachments of a mail, each under a name that is safe in a path. */
export const attachedParts = (
  parts: readonly MimePart[],
  { date, message }: { readonly date: string | undefined; readonly message: number | undefined },
): readonly AttachedPart[] =>
  parts.map((part, index) => ({
    name: attachmentName(index + 1, safeName(part), message),
    givenName: part.filename ?? "",
    type: part.mimeType,
    isShown: part.related === true && part.mimeType.startsWith("image/"),
    bytes: bytesOf(part),
    ...(date === undefined ? {} : { date }),
  }));

/** What a part holds. */
export const bytesOf = ({ content }: Pick<MimePart, "content">): Buffer => {
  if (typeof content === "string") return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
};

/** The ending of what has a type, and a name without one. */
export const ENDINGS: Readonly<Record<string, string>> = {
  "application/epub+zip": ".epub",
  "application/ics": ".ics",
  "application/pdf": ".pdf",
  "application/json": ".json",
  "application/mbox": ".mbox",
  "application/rtf": ".rtf",
  "application/yaml": ".yaml",
  "application/vnd.oasis.opendocument.presentation": ".odp",
  "application/vnd.oasis.opendocument.spreadsheet": ".ods",
  "application/vnd.oasis.opendocument.text": ".odt",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
  "application/xhtml+xml": ".xhtml",
  "image/bmp": ".bmp",
  "image/gif": ".gif",
  "image/heic": ".heic",
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/tiff": ".tif",
  "image/webp": ".webp",
  "message/delivery-status": ".txt",
  "message/disposition-notification": ".txt",
  "message/rfc822": ".eml",
  "text/calendar": ".ics",
  "text/csv": ".csv",
  "text/html": ".html",
  "text/markdown": ".md",
  "text/plain": ".txt",
  "text/rfc822-headers": ".txt",
  "text/rtf": ".rtf",
  "text/tab-separated-values": ".tsv",
  "text/vcard": ".vcf",
  "text/x-vcard": ".vcf",
};

const MOST_GIVEN_CHARS = 300;
const MOST_NAME_CHARS = 80;

/**
 * The name that a sender gave, without folders, marks that turn the direction of writing, or anything that a path, a
 * question or a terminal might take for something else: letters, digits, dots, dashes, underscores and plus signs.
 */
export function safeName({ filename, mimeType }: Pick<MimePart, "filename" | "mimeType">): string {
  const end = (filename ?? "").slice(-MOST_GIVEN_CHARS);
  const given = end.normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const words = given
    .replaceAll(/\p{C}/gu, "")
    .replaceAll(/[^\p{L}\p{M}\p{N}._+-]+/gu, "-")
    .replaceAll(/-+(?=\.)|(?<=\.)[.-]+/g, "")
    .replace(/^[\p{M}.-]+/u, "")
    .replace(/[.-]+$/, "");
  const found = /\.[a-z][a-z0-9]{0,9}$/i.exec(words)?.[0] ?? "";
  const byType = (Object.hasOwn(ENDINGS, mimeType) ? ENDINGS[mimeType] : undefined) ?? "";
  const isNamed = mimeType === "message/rfc822" ? found.toLowerCase() === byType : found !== "";
  const stem = isNamed ? words.slice(0, words.length - found.length) : words;
  const shortened = Array.from(stem)
    .slice(0, MOST_NAME_CHARS)
    .join("")
    .replace(/[.-]+$/, "");
  return `${shortened === "" ? "attachment" : shortened}${isNamed ? found.toLowerCase() : byType}`;
}

/** Attachments of one file that are handed over. */
const MOST_ATTACHMENTS = 1_000;

/** Gathers attachments up to a limit of their number and of their bytes. */
export function gatherAttachments({ unpackedBytes }: Pick<TextLimits, "unpackedBytes">): {
  add(parts: readonly Attachment[]): void;
  /** Whether what comes now is left out, whatever it is. */
  isFull(): boolean;
  finish(): { readonly attachments: readonly Attachment[]; readonly attachmentsLeftOut: number };
} {
  const attachments: Attachment[] = [];
  let bytes = 0;
  let attachmentsLeftOut = 0;
  return {
    isFull: () => attachments.length === MOST_ATTACHMENTS || bytes > unpackedBytes,
    add(parts) {
      for (const { name, bytes: content, date } of parts) {
        bytes += content.length;
        if (attachments.length === MOST_ATTACHMENTS || bytes > unpackedBytes)
          attachmentsLeftOut += 1;
        else attachments.push({ name, bytes: content, ...(date === undefined ? {} : { date }) });
      }
    },
    finish: () => ({ attachments, attachmentsLeftOut }),
  };
}
