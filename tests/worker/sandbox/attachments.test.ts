import { hash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { MAIL_HEAD, writeMail, writeMailbox, writePdf } from "../../support/format-writers.ts";
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./make-workroot.ts";

const ROOMS = "Room,Area\nKitchen,12\n";
const PRICES = writePdf([[[50, 780, "The harbour ticket costs 12 euros."]]]);
const INNER = writeMail({
  ...MAIL_HEAD,
  attachments: [{ name: "rooms.csv", type: "text/csv", content: ROOMS }],
});
const OFFER = writeMail({
  ...MAIL_HEAD,
  attachments: [
    { name: "Price list.pdf", type: "application/pdf", content: PRICES },
    { name: "photo.jpg", type: "image/jpeg", content: "no text" },
    { name: "inner.eml", type: "message/rfc822", content: INNER },
    { name: "broken.docx", type: "application/octet-stream", content: "no archive" },
  ],
});
const EXTENSIONS = { allowedExts: [".eml", ".mbox", ".md"] };
const PDF = "allowed/offer.eml/attachments/1/Price-list.pdf";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/offer.eml", OFFER);
});
afterEach(() => {
  root.remove();
});
const read = (path: string) => root.read(path, EXTENSIONS);

describe("an attachment", () => {
  test("is read out of its mail by its path, from the work root or from an allowed root", async () => {
    const expected = {
      kind: "read",
      path: PDF,
      sha256: hash("sha256", PRICES, "hex"),
      text: "The harbour ticket costs 12 euros.\n\n",
      locator: { page: 1 },
    };
    const { text } = (await read(PDF)) as { text: string };
    expect(text).toContain("The harbour ticket costs 12 euros.");
    for (const path of [PDF, "offer.eml/attachments/1/Price-list.pdf", `./${PDF}`]) {
      expect(await read(path)).toMatchObject({ ...expected, text });
    }
    const sandbox = await root.open(EXTENSIONS);
    expect(
      await sandbox.readTextFile({ path: PDF, lookup: "exact", maxChars: 1_000 }),
    ).toMatchObject({ ...expected, text });
    expect(await sandbox.locate("offer.eml/attachments/1/Price-list.pdf")).toEqual({
      kind: "located",
      path: PDF,
    });
  });

  test("of a mail in a mail, and of a mail in a mailbox, is read as well", async () => {
    expect(await read("offer.eml/attachments/3/inner.eml/attachments/1/rooms.csv")).toMatchObject({
      path: "allowed/offer.eml/attachments/3/inner.eml/attachments/1/rooms.csv",
      sha256: hash("sha256", ROOMS, "hex"),
      locator: { row: 1, last_row: 2 },
    });
    root.write("allowed/box.mbox", writeMailbox([writeMail(MAIL_HEAD), INNER]));
    expect(await read("allowed/box.mbox/messages/2/attachments/1/rooms.csv")).toMatchObject({
      kind: "read",
      text: expect.stringContaining("Kitchen"),
    });
  });

  test.each([
    ["offer.eml/attachments/9/none.pdf", "FILE_NOT_FOUND"],
    ["offer.eml/attachments/2/photo.jpg", "FILE_NOT_FOUND"],
    ["offer.eml/attachments/4/broken.docx", "FILE_FORMAT_INVALID"],
    ["offer.eml/attachments/1/..", "FILE_NOT_FOUND"],
    ["none.eml/attachments/1/a.csv", "PATH_DENIED"],
    ["../outside/offer.eml/attachments/1/Price-list.pdf", "PATH_DENIED"],
    [`offer.eml${"/attachments/1/m.eml".repeat(5)}`, "FILE_TOO_LARGE"],
    ["allowed/.hidden/offer.eml/attachments/1/Price-list.pdf", "PATH_DENIED"],
    ["allowed/bad.eml/attachments/1/Price-list.pdf", "FILE_FORMAT_INVALID"],
  ])("%s is refused with %s", async (path, code) => {
    root.write("allowed/.hidden/offer.eml", OFFER);
    root.write("allowed/bad.eml", "no mail");
    expect(codeOf(await read(path))).toBe(code);
  });

  test("is of the mail as it is now, and of its kind, whatever was read before", async () => {
    const box = writeMailbox([INNER]);
    root.write("allowed/box.mbox", box);
    root.write("allowed/box.eml", box);
    const sandbox = await root.open(EXTENSIONS);
    const asked = (path: string) => sandbox.readTextFile({ path, maxChars: 1_000 });
    const rooms = "messages/1/attachments/1/rooms.csv";
    expect(await asked(`box.mbox/${rooms}`)).toMatchObject({ kind: "read" });
    expect(await asked("box.eml/attachments/1/rooms.csv")).toMatchObject({ kind: "read" });
    expect(await asked(`box.mbox/${rooms}`)).toMatchObject({ kind: "read" });
    const other = { name: "rooms.csv", type: "text/csv", content: "Room,Area\nSaloon,80\n" };
    const changed = writeMail({ ...MAIL_HEAD, attachments: [other] });
    root.write("allowed/box.mbox", writeMailbox([changed]));
    expect(await asked(`box.mbox/${rooms}`)).toMatchObject({
      text: expect.stringContaining("Saloon"),
    });
  });

  test("that a mail does not hold is refused with the names of those that it does", async () => {
    expect(messageOf(await read("offer.eml/attachments/1/price.pdf"))).toBe(
      '"allowed/offer.eml" has no attachment "attachments/1/price.pdf" that is read. Those that are: ' +
        '"attachments/1/Price-list.pdf", "attachments/3/inner.eml", "attachments/4/broken.docx".',
    );
  });

  test("is subject to the rules for the file of its mail", async () => {
    expect(codeOf(await root.read(PDF, { allowedExts: [".pdf", ".md"] }))).toBe("PATH_DENIED");
    expect(codeOf(await root.read(PDF, { ...EXTENSIONS, maxFileBytes: 100 }))).toBe(
      "FILE_TOO_LARGE",
    );
    symlinkSync(join(root.work, "allowed/offer.eml"), join(root.work, "allowed/link.eml"));
    expect(await read("allowed/link.eml/attachments/1/Price-list.pdf")).toMatchObject({
      path: PDF,
    });
  });

  test("does not stand in for a file below a folder that is called like a mail", async () => {
    root.write("allowed/folder.eml/attachments/1/note.md", "A note.");
    expect(await read("folder.eml/attachments/1/note.md")).toMatchObject({ text: "A note." });
    root.write("allowed/folder.eml/attachments/1/inner.eml", INNER);
    const inner = "allowed/folder.eml/attachments/1/inner.eml/attachments/1/rooms.csv";
    expect(await read(inner)).toMatchObject({ path: inner, kind: "read" });
  });

  test("is given to a command as its own bytes, whatever their text", async () => {
    const sandbox = await root.open(EXTENSIONS);
    expect(
      await sandbox.openFile({ path: "offer.eml/attachments/1/Price-list.pdf" }),
    ).toMatchObject({
      kind: "held",
      path: PDF,
      content: PRICES,
    });
    expect(await sandbox.openFile({ path: "offer.eml/attachments/4/broken.docx" })).toMatchObject({
      content: Buffer.from("no archive"),
    });
    expect(codeOf(await sandbox.openFile({ path: "offer.eml/attachments/2/photo.jpg" }))).toBe(
      "FILE_NOT_FOUND",
    );
  });
});
