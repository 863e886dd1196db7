import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { withAttachments } from "../../src/worker/file-access.ts";
import { writeMail } from "../support/format-writers.ts";
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./sandbox/make-workroot.ts";

const OFFER = writeMail({
  from: "Ada <ada@example.org>",
  to: "Bo <bo@example.org>",
  date: "Tue, 3 Nov 2026 10:00:00 +0100",
  subject: "Our offer",
  text: "The offer is attached.",
  attachments: [
    { name: "Price list.csv", type: "text/csv", content: "Ticket,Price\nHarbour,12\n" },
  ],
});
const EXTENSIONS = { allowedExts: [".eml", ".md"] };
const CSV = "allowed/offer.eml/attachments/1/Price-list.csv";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/offer.eml", OFFER);
});
afterEach(() => {
  root.remove();
});

describe("an attachment whose path or name is misspelt", () => {
  const MAIL = "allowed/offer.eml";

  test.each([
    "allowed/ofer.eml/attachments/1/Price-list.csv",
    "allowed/ofer.eml/attachments/1-Price-list.csv",
    "allowed/offer.eml/attachments/1-Price-list.csv",
    "Price-lists.csv",
  ])("%s is answered with the one that is near", async (path) => {
    const sandbox = await root.open(EXTENSIONS, [{ path: CSV, mail: MAIL }]);
    const read = await sandbox.readTextFile({ path, maxChars: 1_000 });
    expect(messageOf(read)).toContain(`Did you mean "${CSV}"?`);
    expect(messageOf(await sandbox.locate(path))).toContain(`Did you mean "${CSV}"?`);
  });

  test("of many by one name is offered the one that lies nearest to what was asked", async () => {
    const mails = ["a.eml", "b.eml", "offer.eml", "z.eml"].map((name) => `allowed/${name}`);
    for (const mail of mails) root.write(mail, OFFER);
    const all = mails.map((mail) => ({ mail, path: `${mail}/attachments/1/Price-list.csv` }));
    const sandbox = await root.open(EXTENSIONS, all);
    const path = "allowed/ofer.eml/attachments/1/Price-list.csv";
    expect(messageOf(await sandbox.locate(path))).toContain(`Did you mean "${CSV}" or `);
  });

  test("is not offered where its mail is gone, or no name is near", async () => {
    const gone = "allowed/gone.eml/attachments/1/Price-list.csv";
    const sandbox = await root.open(EXTENSIONS, [
      { path: gone, mail: "allowed/gone.eml" },
      { path: CSV, mail: MAIL },
    ]);
    for (const path of [gone.replace("Price-list", "Other-thing"), "Contract.csv"]) {
      expect(messageOf(await sandbox.locate(path))).not.toContain("Did you mean");
    }
    expect(messageOf(await sandbox.locate(gone))).toContain(`Did you mean "${CSV}"?`);
  });
});

describe("an attachment by its name alone", () => {
  const attachments = (paths: readonly string[]) => {
    const all = paths.map((path) => ({ path, mail: path.slice(0, path.indexOf("/attachments/")) }));
    return {
      list: async () => all,
      named: async (names: readonly string[]) =>
        all.filter(({ path }) => names.some((name) => path.endsWith(`/${name}`))),
    };
  };

  test("that the index knows is found and listed, unless a file has that name", async () => {
    const sandbox = await root.open(EXTENSIONS);
    const files = withAttachments(
      sandbox,
      attachments([CSV, "allowed/gone.eml/attachments/1/a.md"]),
    );
    for (const path of ["Price-list.csv", "Price list.csv"]) {
      expect(await files.locate(path)).toEqual({ kind: "located", path: CSV });
      expect(await files.readTextFile({ path, maxChars: 1_000 })).toMatchObject({ path: CSV });
    }
    expect(await files.listPaths()).toEqual(["allowed/offer.eml", CSV]);
    expect(await files.listPathsNow()).toEqual({
      paths: ["allowed/offer.eml", CSV],
      isWhole: true,
    });
    expect(codeOf(await files.locate("a.md"))).toBe("FILE_NOT_FOUND");
    const exact = { path: "Price-list.csv", maxChars: 1_000, lookup: "exact" } as const;
    expect(codeOf(await files.readTextFile(exact))).toBe("PATH_DENIED");
  });

  test("that several mails hold is ambiguous", async () => {
    root.write("allowed/other.eml", OFFER);
    const other = CSV.replace("offer", "other");
    const files = withAttachments(await root.open(EXTENSIONS), attachments([CSV, other]));
    expect(codeOf(await files.locate("Price-list.csv"))).toBe("AMBIGUOUS_PATH");
    expect(messageOf(await files.locate("Price-list.csv"))).toContain(`"${CSV}", "${other}"`);
  });
});
