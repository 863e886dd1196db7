import { hash } from "node:crypto";
import { posix } from "node:path";
import {
  attachmentPlaces,
  DEEPEST_ATTACHMENT,
  mayHoldAttachments,
  isAttachmentHolder,
} from "../../shared/files/attachment-path.ts";
import type { TakenFile } from "../../shared/store/index/watched-files.ts";
import { attachedBytes } from "../documents/extraction.ts";
import { openAttachment } from "../sandbox/attachments.ts";
import { storablePath } from "./sources.ts";
import type { IndexSource } from "./sources.ts";
import { jobOf, rulesForAttachments, rulesOf, selectRule, textReader } from "./watch-rules.ts";
import type { Watch } from "./watch-rules.ts";

type HeldFile = { readonly path: string; readonly bytes: Buffer };

/**
 * The attachments of the mails among new files, each with the job of the first fitting rule; none without a rule for
 * attachments.
 */
export async function takeAttachments(
  files: readonly TakenFile[],
  { source, watch }: { readonly source: IndexSource; readonly watch: Watch },
): Promise<readonly TakenFile[]> {
  if (rulesForAttachments(watch.rules).length === 0) return [];
  const rules = rulesForAttachments(rulesOf(watch.rules, { kind: "new" }));
  const taken: TakenFile[] = [];
  for (const mail of files) {
    if (!isAttachmentHolder(mail.path)) continue;
    for await (const { path, bytes } of readHeld(source, mail)) {
      if (storablePath(path) !== path) continue;
      const rule = await selectRule(rules, {
        relativePath: posix.relative(source.label, path),
        path,
        readText: textReader(source, path, bytes),
      });
      taken.push({
        ...mail,
        sha256: hash("sha256", bytes, "hex"),
        path,
        bytes: BigInt(bytes.length),
        mailSha256: mail.sha256,
        job: rule === undefined ? null : jobOf(rule, path),
        moveTo: null,
      });
    }
  }
  return taken;
}

/** Reads the attachment at a path; undefined where its mail can't be read or does not hold it. */
export async function readAttachment(
  source: IndexSource,
  mail: string,
  path: string,
): Promise<HeldFile | undefined> {
  const place = attachmentPlaces(path).find(({ file }) => file === mail);
  const file = await source.read(posix.relative(source.label, mail));
  if (place === undefined || file.kind === "refused") return undefined;
  const content = { kind: "content", path: mail, bytes: file.bytes } as const;
  const found = await openAttachment(content, place.names, source.extractText);
  return found.kind === "refused" ? undefined : found;
}

/** Yields nothing for a mail that was changed meanwhile: a later look takes it with its attachments. */
async function* readHeld(
  source: IndexSource,
  { path, sha256 }: Pick<TakenFile, "path" | "sha256">,
): AsyncGenerator<HeldFile> {
  const file = await source.read(posix.relative(source.label, path));
  if (file.kind === "refused" || hash("sha256", file.bytes, "hex") !== sha256) return;
  yield* heldIn(source, { path, bytes: file.bytes }, 0);
}

/** Yields nothing for what can't be read or lies too deep: the run that indexes the source reports it. */
async function* heldIn(
  source: IndexSource,
  { path: of, bytes }: HeldFile,
  depth: number,
): AsyncGenerator<HeldFile> {
  if (!mayHoldAttachments(of) || depth === DEEPEST_ATTACHMENT) return;
  const extracted = await source.extractText(of, bytes);
  if (extracted.kind === "unreadable") return;
  for (const attachment of extracted.attachments ?? []) {
    const held = { path: `${of}/${attachment.name}`, bytes: attachedBytes(attachment) };
    yield held;
    yield* heldIn(source, held, depth + 1);
  }
}
