import { attachmentName } from "../../../shared/files/attachment-path.ts";
import { openArchive } from "../reader/archive.ts";
import type { ArchiveFile } from "../reader/archive.ts";
import { countedOut } from "../left-out.ts";
import { NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";
import { gatherAttachments, safeName } from "./mail-attachments.ts";
import { isHeldFormat } from "./registry.ts";
import { oneLine } from "./table-rows.ts";

/** Text of equal lines unpacks to some fifty times its size; a bomb that fills the memory to a thousand times. */
const MOST_TIMES = 200;
/** A smaller file may unpack to any multiple of its size. */
const HARMLESS_BYTES = 1_000_000;

/** Reads an archive: its text is a list of its files; each file of a known format becomes a document of its own. */
export function readZip(bytes: Buffer, limits: TextLimits): Extraction {
  const files = openArchive(bytes, limits).files.filter(({ name }) => !name.endsWith("/"));
  if (files.some(isBomb) || isBomb({ packed: bytes.length, size: sumOf(files) })) {
    throw new NoText(
      "FILE_TOO_LARGE",
      `holds what unpacks to more than ${MOST_TIMES} times its size: unpack it, and save the files that are needed.`,
    );
  }
  const visible = files.filter(({ name }) => !HIDDEN_NAME.test(name));
  if (visible.length > 0 && visible.every(({ isEncrypted }) => isEncrypted)) {
    throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
  }
  const gathered = gatherAttachments(limits);
  const builder = openTextBuilder(limits);
  const leftOut = {
    "hidden files": files.length - visible.length,
    "encrypted files": 0,
    "files of other formats": 0,
  };
  const damages: NoText[] = [];
  builder.add("# Files\n\n");
  for (const [index, file] of visible.entries()) {
    const name = nameOf(file, index + 1);
    builder.add(`- ${oneLine(file.name).slice(0, MOST_SHOWN)} (${file.size} bytes): ${name}\n`);
    if (file.isEncrypted) leftOut["encrypted files"] += 1;
    else if (!isHeldFormat(name)) leftOut["files of other formats"] += 1;
    else {
      const content = gathered.isFull() ? NOTHING : contentOf(file);
      if (content instanceof NoText) damages.push(content);
      else gathered.add([{ name, bytes: content }]);
    }
  }
  const held = gathered.finish();
  const [damage] = damages;
  if (damage !== undefined && held.attachments.length === 0) throw damage;
  return {
    ...builder.finish({ files: visible.length }),
    ...held,
    ...countedOut({ ...leftOut, "damaged files": damages.length }),
  };
}

const MOST_SHOWN = 500;
/** Stands for a file beyond the limits, which is counted and not unpacked. */
const NOTHING = Buffer.alloc(0);

/** The bytes of a file, or the refusal if it is damaged or packed by an unknown method: the other files are still read. */
function contentOf(file: ArchiveFile): Buffer | NoText {
  try {
    return file.bytes();
  } catch (error) {
    if (error instanceof NoText) return error;
    throw error;
  }
}

/** A hidden name: part of the path begins with a dot and more, or macOS adds the file, or it is a lock file of Office. */
const HIDDEN_NAME = /(?:^|\/)(?:\.(?!\/)|__MACOSX\/|~\$)/;

const isBomb = ({ packed, size }: Pick<ArchiveFile, "packed" | "size">): boolean =>
  size > HARMLESS_BYTES && size > packed * MOST_TIMES;

const sumOf = (files: readonly ArchiveFile[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

/** The name of an attachment; its folders become part of it. */
const nameOf = ({ name }: ArchiveFile, number: number): string =>
  attachmentName(
    number,
    safeName({ filename: name.replaceAll("/", " "), mimeType: "" }),
    undefined,
  );
