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

/** Text of many equal lines unpacks to some fifty times its size; what is made to fill a memory to a thousand times. */
const MOST_TIMES = 200;
/** Files of less may unpack to as many times their size as they like. */
const HARMLESS_BYTES = 1_000_000;

/** Archives: a list of what they hold, of which each file of a format that is read is a document of its own. */
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
/** In the place of what is left out anyway, and not unpacked for that. */
const NOTHING = Buffer.alloc(0);

/** Why not where it is damaged, or packed in a way that is not read: the other files are read all the same. */
function contentOf(file: ArchiveFile): Buffer | NoText {
  try {
    return file.bytes();
  } catch (error) {
    if (error instanceof NoText) return error;
    throw error;
  }
}

/** A part of its path begins with a dot and more, or it is what a Mac adds, or the lock of an Office program. */
const HIDDEN_NAME = /(?:^|\/)(?:\.(?!\/)|__MACOSX\/|~\$)/;

const isBomb = ({ packed, size }: Pick<ArchiveFile, "packed" | "size">): boolean =>
  size > HARMLESS_BYTES && size > packed * MOST_TIMES;

const sumOf = (files: readonly ArchiveFile[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

/** Its folders stay part of its name. */
const nameOf = ({ name }: ArchiveFile, number: number): string =>
  attachmentName(
    number,
    safeName({ filename: name.replaceAll("/", " "), mimeType: "" }),
    undefined,
  );
