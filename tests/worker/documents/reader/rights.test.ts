import { expect, test } from "@jest/globals";
import { Failure } from "../../../../src/shared/failure.ts";
import { checkReader } from "../../../../src/worker/doctor/check-readers.ts";
import { extractTextBy } from "../../../../src/worker/documents/formats/registry.ts";
import { openDocumentReader } from "../../../../src/worker/documents/reader/reader.ts";
import { readerRights } from "../../../../src/worker/documents/reader/rights.ts";
import { READER_LIMITS } from "../../../support/read-documents.ts";

const extractText = extractTextBy(openDocumentReader(READER_LIMITS));
const rightsWith = (...known: string[]) =>
  readerRights({ module: import.meta.filename, known: new Set(known) });

test("the flag of permissions is the one that this Node knows", () => {
  expect(rightsWith("--experimental-permission").flags).toContain("--experimental-permission");
  const both = rightsWith("--experimental-permission", "--permission").flags;
  expect(both).toContain("--permission");
  expect(both).not.toContain("--experimental-permission");
});

test("a Node without permissions starts the process as it was started itself, and doctor says so", async () => {
  const rights = rightsWith();
  expect(rights).toEqual({ flags: process.execArgv, withheld: "nothing" });
  expect(await checkReader(rights, extractText)).toMatchObject({
    level: "warn",
    code: "DOCTOR_READER_UNRESTRICTED",
  });
});

test("doctor says whether the network is kept from it", async () => {
  const closed = rightsWith("--permission", "--allow-net");
  expect(closed.flags.filter((flag) => flag.includes("net"))).toEqual([]);
  expect(await checkReader(closed, extractText)).toMatchObject({
    level: "ok",
    message: expect.stringContaining("open no connection"),
  });
  expect(await checkReader(rightsWith("--permission"), extractText)).toMatchObject({
    level: "ok",
    message: expect.stringContaining("by Node 25 or newer alone"),
  });
});

test.each([
  [
    "unreadable",
    async () =>
      ({
        kind: "unreadable",
        code: "FILE_FORMAT_INVALID",
        why: "is broken.",
        lasts: "always",
      }) as const,
    "trial.html, which is broken.",
  ],
  [
    "not loaded",
    () => Promise.reject(new Failure("TOOL_ERROR", "It can't be loaded.")),
    "trial.html: It can't be loaded.",
  ],
])("doctor says that a trial was %s", async (_, extract, said) => {
  expect(await checkReader(readerRights(), extract)).toMatchObject({
    level: "fail",
    code: "DOCTOR_READER_FAILED",
    message: expect.stringContaining(said),
  });
});
