import { describe, expect, test } from "@jest/globals";
import {
  attachmentPlaces,
  withoutAttachmentNumbers,
} from "../../../src/shared/files/attachment-path.ts";
import { newerVersionFinder } from "../../../src/shared/files/version-family.ts";

describe("the path of an attachment", () => {
  test("is that of its mail, and what lies in it", () => {
    expect(attachmentPlaces("mail/offer.eml/attachments/2/price-list.pdf")).toEqual([
      { file: "mail/offer.eml", names: ["attachments/2/price-list.pdf"] },
    ]);
    expect(attachmentPlaces("box.MBOX/messages/12/attachments/1/a.csv")).toEqual([
      { file: "box.MBOX", names: ["messages/12/attachments/1/a.csv"] },
    ]);
  });

  test("of a mail in a mail may be that of either, the outer one first", () => {
    expect(attachmentPlaces("a.eml/attachments/1/b.eml/attachments/3/c.txt")).toEqual([
      { file: "a.eml", names: ["attachments/1/b.eml", "attachments/3/c.txt"] },
      { file: "a.eml/attachments/1/b.eml", names: ["attachments/3/c.txt"] },
    ]);
  });

  test.each([
    "offer.eml",
    "attachments/1/a.pdf",
    "offer.md/attachments/1/a.pdf",
    "offer.eml/attachments/a.pdf",
    "offer.eml/attachments/0/a.pdf",
    "offer.eml/attachments/1/",
    "offer.eml/attachments/1/folder/a.pdf",
    "offer.eml/messages/1/attachments/1/a.pdf",
    "box.mbox/attachments/1/a.pdf",
    "box.mbox/messages/x/attachments/1/a.pdf",
  ])("is not %s", (path) => {
    expect(attachmentPlaces(path)).toEqual([]);
  });

  test("has numbers that say nothing of versions", () => {
    expect(withoutAttachmentNumbers("m/offer.eml/attachments/2/prices.pdf")).toBe(
      "m/offer.eml/prices.pdf",
    );
    expect(withoutAttachmentNumbers("box.mbox/messages/7/attachments/1/prices.pdf")).toBe(
      "box.mbox/prices.pdf",
    );
    const of = (number: number) => ({
      path: `offer.eml/attachments/${number}/prices.pdf`,
      supersedes: [],
      secrets: [],
    });
    expect(newerVersionFinder([of(1), of(2)])(of(1).path)).toEqual([]);
  });
});
