/**
 * Where an attachment lies: below the file of its mail, where no file of a disk can be, under its number and its name:
 * `offer.eml/attachments/2/price-list.pdf`, and of the seventh mail of a mailbox `box.mbox/messages/7/attachments/1/plan.pdf`.
 * What an archive holds lies below it as what a mail holds: `year.zip/attachments/3/plan.pdf`.
 */
export type AttachmentPlace = {
  /** The file of a mail, a mailbox or an archive. */
  readonly file: string;
  /** What lies in it, such as `attachments/1/forwarded.eml`, and then what lies in that. */
  readonly names: readonly string[];
};

/** Of mails in mails: the attachments of the third are still read. */
export const DEEPEST_ATTACHMENT = 4;

export const attachmentName = (number: number, name: string, message: number | undefined): string =>
  `${message === undefined ? "" : `messages/${message}/`}attachments/${number}/${name}`;

const NUMBER = /^[1-9]\d{0,6}$/;

/**
 * What a path means if it is that of an attachment, the shortest file first: a folder may be called `x.eml` too, and then
 * only what lies below it says which of several it is.
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

/** Where the name of an attachment begins that these parts of a path end with, behind a mail. */
function startOfName(parts: readonly string[]): number | undefined {
  const end = parts.length;
  const [folder, number = "", name = ""] = parts.slice(-3);
  if (folder !== "attachments" || !NUMBER.test(number) || name === "") return undefined;
  const isOfMessage = parts[end - 5] === "messages" && NUMBER.test(parts[end - 4] ?? "");
  const start = isOfMessage ? end - 5 : end - 3;
  const endings = isOfMessage ? /\.mbox$/i : /\.(?:eml|zip)$/i;
  return endings.test(parts[start - 1] ?? "") ? start : undefined;
}

/** Whether what lies at a path may hold attachments. */
export const holdsFiles = (path: string): boolean => /\.(?:eml|mbox|zip)$/i.test(path);

/** Whether a path is that of a file that may hold attachments, and no attachment itself. */
export const isHolder = (path: string): boolean =>
  holdsFiles(path) && attachmentPlaces(path).length === 0;

const NUMBERED = /(\.(?:eml|mbox|zip))(?:\/messages\/[1-9]\d{0,6})?\/attachments\/[1-9]\d{0,6}\//gi;

/** A path as it would be without the numbers that attachments lie under, which say nothing of what they are. */
export const withoutAttachmentNumbers = (path: string): string => path.replaceAll(NUMBERED, "$1/");
