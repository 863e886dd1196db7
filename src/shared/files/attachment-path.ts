/**
 * The path of an attachment: below the file of its mail, where no real file can be, under its number and name:
 * `offer.eml/attachments/2/price-list.pdf`, and for the seventh mail of a mailbox `box.mbox/messages/7/attachments/1/plan.pdf`.
 * Files in an archive have paths like attachments: `year.zip/attachments/3/plan.pdf`.
 */
export type AttachmentPlace = {
  /** The file of a mail, a mailbox or an archive. */
  readonly file: string;
  /** The attachment, such as `attachments/1/forwarded.eml`, then the attachment in that, and so on. */
  readonly names: readonly string[];
};

/** Levels of mails in mails: attachments of the third mail are still read. */
export const DEEPEST_ATTACHMENT = 4;

export const attachmentName = (number: number, name: string, message: number | undefined): string =>
  `${message === undefined ? "" : `messages/${message}/`}attachments/${number}/${name}`;

const NUMBER = /^[1-9]\d{0,6}$/;

/**
 * The possible meanings of a path of an attachment, the shortest file first. A folder may be called `x.eml` too, so only
 * existing files decide between them.
 */
export function attachmentPlaces(path: string): readonly AttachmentPlace[] {
  const parts = path.split("/");
  const places: AttachmentPlace[] = [];
  let names: readonly string[] = [];
  for (let end = parts.length; ;) {
    const start = startOfName(parts.slice(0, end));
    if (start === undefined) return places.toReversed();
    names = [parts.slice(start, end).join("/"), ...names];
    places.push({ file: parts.slice(0, start).join("/"), names });
    end = start;
  }
}

/** The index of the part where the name of an attachment at the end of a path begins; undefined for any other path. */
function startOfName(parts: readonly string[]): number | undefined {
  const end = parts.length;
  const [folder, number = "", name = ""] = parts.slice(-3);
  if (folder !== "attachments" || !NUMBER.test(number) || name === "") return undefined;
  const isOfMessage = parts[end - 5] === "messages" && NUMBER.test(parts[end - 4] ?? "");
  const start = isOfMessage ? end - 5 : end - 3;
  const endings = isOfMessage ? /\.mbox$/i : /\.(?:eml|zip)$/i;
  return endings.test(parts[start - 1] ?? "") ? start : undefined;
}

/** Whether a path, of a file or an attachment, may contain attachments. */
export const mayHoldAttachments = (path: string): boolean => /\.(?:eml|mbox|zip)$/i.test(path);

/** Whether a path is a file that may contain attachments, and no attachment itself. */
export const isAttachmentHolder = (path: string): boolean =>
  mayHoldAttachments(path) && attachmentPlaces(path).length === 0;

const NUMBERED = /(\.(?:eml|mbox|zip))(?:\/messages\/[1-9]\d{0,6})?\/attachments\/[1-9]\d{0,6}\//gi;

/** A path without the numbers of attachments, which say nothing about their content. */
export const withoutAttachmentNumbers = (path: string): string => path.replaceAll(NUMBERED, "$1/");
