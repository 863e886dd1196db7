import { expect, test } from "@jest/globals";
import { checkReader } from "../../../../src/worker/doctor/check-reader.ts";
import { readerRights } from "../../../../src/worker/documents/reader/rights.ts";

const rightsWith = (...known: string[]) => readerRights(import.meta.filename, new Set(known));

test("the flag of permissions is the one that this Node knows", () => {
  expect(rightsWith("--experimental-permission").flags).toContain("--experimental-permission");
  const both = rightsWith("--experimental-permission", "--permission").flags;
  expect(both).toContain("--permission");
  expect(both).not.toContain("--experimental-permission");
});

test("a Node without permissions starts the process as it was started itself, and doctor says so", () => {
  const rights = rightsWith();
  expect(rights).toEqual({ flags: process.execArgv, withheld: "nothing" });
  expect(checkReader(rights)).toMatchObject({ level: "warn", code: "DOCTOR_READER_UNRESTRICTED" });
});

test("doctor says whether the network is kept from it", () => {
  const closed = rightsWith("--permission", "--allow-net");
  expect(closed.flags.filter((flag) => flag.includes("net"))).toEqual([]);
  expect(checkReader(closed)).toMatchObject({
    level: "ok",
    message: expect.stringContaining("open no connection"),
  });
  expect(checkReader(rightsWith("--permission"))).toMatchObject({
    level: "ok",
    message: expect.stringContaining("by Node 25 or newer alone"),
  });
});
