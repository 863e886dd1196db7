import { describe, expect, test } from "@jest/globals";
import {
  gatherAttachments,
  safeName,
} from "../../../../src/worker/documents/formats/mail-attachments.ts";

describe("the name of an attachment in a path", () => {
  test.each([
    ["price-list.pdf", "application/pdf", "price-list.pdf"],
    ["Price list 2026.PDF", "application/pdf", "Price-list-2026.pdf"],
    ["../../etc/passwd.txt", "text/plain", "passwd.txt"],
    ["C:\\Users\\ada\\plan (2).docx", "application/octet-stream", "plan-2.docx"],
    ["invoice\u202Efdp.exe", "application/pdf", "invoicefdp.exe"],
    ["Gro\u0308ße\u200F.csv", "text/csv", "Größe.csv"],
    ["价格表.xlsx", "application/octet-stream", "价格表.xlsx"],
    ["a\0b\nc.txt", "text/plain", "abc.txt"],
    ["..", "text/plain", "attachment.txt"],
    [".htaccess", "text/plain", "htaccess.txt"],
    ["rows...csv", "text/csv", "rows.csv"],
    ["*?[a]|$(x).md", "text/markdown", "a-x.md"],
    [null, "application/pdf", "attachment.pdf"],
    [null, "image/png", "attachment.png"],
    [null, "video/mp4", "attachment"],
    ["Invoice No. 5", "application/pdf", "Invoice-No.5.pdf"],
    ["backup.7z", "application/octet-stream", "backup.7z"],
    ["no ending", "text/csv", "no-ending.csv"],
    ["Re: the 2.5 release", "message/rfc822", "Re-the-2.5-release.eml"],
  ])("of %j, a %s, is %s", (filename, mimeType, name) => {
    expect(safeName({ filename, mimeType })).toBe(name);
  });

  test("is limited, and keeps its ending", () => {
    const name = safeName({ filename: `${"🎟é".repeat(5_000)}.pdf`, mimeType: "application/pdf" });
    expect(name).toMatch(/^[é-]{1,80}\.pdf$/u);
    expect(name).toBe(safeName({ filename: name, mimeType: "" }));
  });
});

describe("the attachments of a file", () => {
  const part = (number: number, size: number) => ({
    name: `attachments/${number}/a.txt`,
    givenName: "a.txt",
    type: "text/plain",
    isShown: false,
    bytes: Buffer.alloc(size),
  });

  test("are handed over up to a sum of their bytes, and the others counted", () => {
    const gathered = gatherAttachments({ unpackedBytes: 10 });
    gathered.add([part(1, 6), part(2, 4), part(3, 1)]);
    gathered.add([part(4, 1)]);
    const { attachments, attachmentsLeftOut } = gathered.finish();
    expect(attachments.map(({ name }) => name)).toEqual([
      "attachments/1/a.txt",
      "attachments/2/a.txt",
    ]);
    expect(attachmentsLeftOut).toBe(2);
  });

  test("are a thousand at most", () => {
    const gathered = gatherAttachments({ unpackedBytes: 10 });
    gathered.add(Array.from({ length: 1_001 }, (_, at) => part(at + 1, 0)));
    const { attachments, attachmentsLeftOut } = gathered.finish();
    expect([attachments.length, attachmentsLeftOut]).toEqual([1_000, 1]);
  });
});
